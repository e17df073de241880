package dev.klock.sandbox.subject;

import java.awt.image.BufferedImage;
import java.io.File;
import java.io.IOException;
import javax.imageio.ImageIO;

/**
 * Has ImageIO, which replaces files by removing them first, write an image to {@code -Dplace=DIRECTORY}; that image removes another file there
 * when it is asked how wide it is.
 */
public final class Replacer extends BufferedImage {
    private final transient File victim;

    private Replacer(File victim) {
        super(2, 2, TYPE_INT_RGB);
        this.victim = victim;
    }

    @Override
    public int getWidth() {
        if (victim != null) {
            victim.delete();
        }
        return super.getWidth();
    }

    public static void main(String[] arguments) throws IOException {
        File place = new File(System.getProperty("place"));
        System.out.println(ImageIO.write(new BufferedImage(2, 2, TYPE_INT_RGB), "png", new File(place, "image.png")));
        ImageIO.write(new Replacer(new File(place, "victim")), "png", new File(place, "image.png"));
    }
}

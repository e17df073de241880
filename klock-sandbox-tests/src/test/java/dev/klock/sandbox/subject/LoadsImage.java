package dev.klock.sandbox.subject;

import javax.swing.ImageIcon;

/** Has a thread of the JDK's read an image, and waits for it; prints how wide it is, −1 if it could not be read. */
public final class LoadsImage {
    private LoadsImage() {
    }

    public static void main(String[] file) {
        System.setProperty("java.awt.headless", "true");
        System.out.println("width " + new ImageIcon(file[0]).getIconWidth());
    }
}

package dev.klock.agent.backup;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.attribute.UserDefinedFileAttributeView;
import java.util.ArrayList;
import java.util.List;

/** Knows the attributes of users. */
class Attributed extends TestFiles {
    /** Why none can be set; null if they can. */
    String refused;

    @Override
    public int open(byte[] name) {
        return -1;
    }

    @Override
    public byte[][] attributes(byte[] name) throws IOException {
        UserDefinedFileAttributeView view = Files.getFileAttributeView(path(name), UserDefinedFileAttributeView.class);
        List<byte[]> all = new ArrayList<>();
        for (String attribute : view.list()) {
            ByteBuffer value = ByteBuffer.allocate(view.size(attribute));
            view.read(attribute, value);
            all.add(attribute.getBytes(StandardCharsets.US_ASCII));
            all.add(value.array());
        }
        return all.toArray(new byte[0][]);
    }

    @Override
    public void setAttribute(byte[] name, byte[] attribute, byte[] value) throws IOException {
        UserDefinedFileAttributeView view = Files.getFileAttributeView(path(name), UserDefinedFileAttributeView.class);
        String text = new String(attribute, StandardCharsets.US_ASCII);
        if (refused != null) {
            throw new FileSystemException(path(name).toString(), null, refused);
        }
        if (value == null) {
            view.delete(text);
        } else {
            view.write(text, ByteBuffer.wrap(value));
        }
    }
}

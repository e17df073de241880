package dev.klock.agent.resolve;

import java.io.File;

/** A File of a program, outside the observer's package: its frames are the program's. */
public final class ProgramFile extends File {
    private static final long serialVersionUID = 1L;

    private final transient Runnable onDelete;

    public ProgramFile(String name, Runnable onDelete) {
        super(name);
        this.onDelete = onDelete;
    }

    @Override
    public boolean delete() {
        onDelete.run();
        return true;
    }
}

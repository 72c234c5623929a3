package routes.usage;

import java.io.Closeable;
import java.io.IOException;
import java.nio.ByteBuffer;
import org.jspecify.annotations.Nullable;

/** The open file that lines are appended to. */
interface LineFile extends Closeable {

    /** Appends some of the bytes that remain and returns how many. */
    int write(ByteBuffer bytes) throws IOException;

    /** Waits until all that was written is on the device. */
    void force() throws IOException;

    long size() throws IOException;

    /** What tells this file from another one of the same name; null where the file system has no such thing. */
    @Nullable
    Object key();

    /** Whether the file's name still leads to this file. */
    boolean isCurrent() throws IOException;

    /** Whether the last byte is not a newline. */
    boolean endsInsideLine() throws IOException;

    /** Opens the file for appending, created with its folders where it is missing. */
    interface Opener {
        LineFile open() throws IOException;
    }
}

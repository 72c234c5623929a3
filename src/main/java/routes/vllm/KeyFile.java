package routes.vllm;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.List;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A file with one key a line, and the credentials that are read from it; empty lines don't count.
 *
 * <p><b>Threading:</b> {@link #run} by one thread at a time, never an event loop. <b>Failure:</b> {@link #read} throws;
 * {@link #run} keeps the keys that it has and says so once.
 */
final class KeyFile implements Runnable {

    private static final Logger LOG = LoggerFactory.getLogger(KeyFile.class);

    private final Path path;
    private final Credentials credentials;
    private boolean bad;

    KeyFile(Path path, Credentials credentials) {
        this.path = path;
        this.credentials = credentials;
    }

    /**
     * Reads the file.
     *
     * @return whether its keys are others than before
     * @throws IllegalArgumentException saying what is wrong with the file
     */
    boolean read() {
        try {
            List<String> keys = Files.readString(path)
                    .lines()
                    .map(String::strip)
                    .filter(line -> !line.isEmpty())
                    .toList();
            if (keys.isEmpty()) {
                throw new IllegalArgumentException("it is empty");
            }
            return credentials.replace(keys);
        } catch (NoSuchFileException e) {
            throw invalid("there is no such file", e);
        } catch (IOException e) {
            throw invalid("it can not be read as text", e);
        } catch (IllegalArgumentException e) {
            throw invalid(String.valueOf(e.getMessage()), e);
        }
    }

    /** Reads the file again. */
    @Override
    public void run() {
        try {
            if (read()) {
                LOG.info("The keys of {} have changed", path);
            }
            bad = false;
        } catch (RuntimeException e) {
            if (!bad) {
                bad = true;
                LOG.warn("{}; the keys that were read before stay in use", e.getMessage());
            }
        }
    }

    private IllegalArgumentException invalid(String why, Exception cause) {
        return new IllegalArgumentException("apiKeyFile " + path + ": " + why + " (expected: one key a line)", cause);
    }
}

package routes.command;

import java.security.SecureRandom;
import java.util.HexFormat;

/** Makes the secrets of keys: {@code sk-} and 192 random bits. */
final class Secret {

    private static final int BYTES = 24;

    private Secret() {}

    static String random() {
        byte[] bytes = new byte[BYTES];
        new SecureRandom().nextBytes(bytes);
        return "sk-" + HexFormat.of().formatHex(bytes);
    }
}

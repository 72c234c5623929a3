package routes.request;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.util.Base64;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;
import org.jspecify.annotations.Nullable;
import routes.config.Setting;

/**
 * Makes the salts of tenants: the HMAC-SHA256 of a tenant's name under the gateway's secret, cut to {@value #CHARACTERS}
 * characters of base64url. All gateways with the same secret give a tenant the same salt.
 *
 * <p><b>Threading:</b> immutable.
 */
public final class CacheSalts {

    /** Without a secret nobody has a salt. */
    public static final CacheSalts NONE = new CacheSalts("");

    /** 132 bits. */
    private static final int CHARACTERS = 22;

    private static final String ALGORITHM = "HmacSHA256";

    private final @Nullable SecretKeySpec secret;

    /** @param secret as in {@link Setting#CACHE_SALT_SECRET}; empty for none */
    public CacheSalts(String secret) {
        this.secret = secret.isEmpty() ? null : new SecretKeySpec(secret.getBytes(StandardCharsets.UTF_8), ALGORITHM);
    }

    /**
     * The salt of a tenant; null without a secret.
     *
     * @param everywhere whether it is for every model, not only for those whose routes ask for it
     */
    public @Nullable CacheSalt of(String tenant, boolean everywhere) {
        if (secret == null) {
            return null;
        }
        byte[] mac;
        try {
            Mac function = Mac.getInstance(ALGORITHM);
            function.init(secret);
            mac = function.doFinal(tenant.getBytes(StandardCharsets.UTF_8));
        } catch (GeneralSecurityException e) {
            throw new IllegalStateException(e);
        }
        String text =
                Base64.getUrlEncoder().withoutPadding().encodeToString(mac).substring(0, CHARACTERS);
        return new CacheSalt(text, ByteBuffer.wrap(mac).getLong(), everywhere);
    }

    /**
     * Checks that there is a secret, for somebody who asks for salts.
     *
     * @param who what the message begins with, such as {@code keys.yaml: key 'a': cache-salt}
     * @throws IllegalArgumentException naming who asks and which property is missing, in one line
     */
    public void require(String who) {
        if (secret == null) {
            throw new IllegalArgumentException(who + ": there is no secret to make it from (expected: "
                    + Setting.CACHE_SALT_SECRET.key() + " to be set; environment: "
                    + Setting.CACHE_SALT_SECRET.environmentName() + ")");
        }
    }
}

/**
 * Second stage: who asks. A client shows a secret; the gateway knows only SHA-256 hashes of the secrets that it accepts,
 * read from {@code keys.yaml}, and answers with the {@link routes.request.ApiKey} behind one of them or with nothing.
 *
 * <p>A {@link routes.auth.KeyStore} is immutable. {@link routes.auth.Keys} holds the one in force, so that a reload is
 * one reference replaced; requests already admitted keep the key they were given.
 */
@NullMarked
package routes.auth;

import org.jspecify.annotations.NullMarked;

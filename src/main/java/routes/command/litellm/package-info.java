/** Makes routes, keys and properties of the {@code config.yaml} of LiteLLM's proxy, and says what has no counterpart. */
@NullMarked
package routes.command.litellm;

import org.jspecify.annotations.NullMarked;

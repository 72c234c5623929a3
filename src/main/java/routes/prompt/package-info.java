/**
 * Reads what the gateway has to know of a request's body, in one pass over its bytes and without building a
 * document: {@link routes.prompt.PromptScanner} checks the structure and finds values and spans,
 * {@link routes.prompt.Prefix} hashes what later turns of a conversation repeat, {@link routes.prompt.FormScanner} finds the
 * fields of a form.
 *
 * <p>The body is trusted in nothing: every read is bounds-checked, nesting is limited, strings are copied only where
 * the gateway needs them and only up to a fixed length. A key that decides how a request is handled may stand there
 * once, since two readers of the same JSON may disagree about which of two counts.
 */
@NullMarked
package routes.prompt;

import org.jspecify.annotations.NullMarked;

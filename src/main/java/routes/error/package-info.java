/**
 * Everything a client can be told went wrong: one catalogue, rendered in one place. Only this package knows HTTP
 * statuses of errors; stages name an {@link routes.error.ErrorCode} and say what happened.
 */
@NullMarked
package routes.error;

import org.jspecify.annotations.NullMarked;

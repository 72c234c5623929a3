/**
 * The stage {@code limits}: refuses, before the body is read, what the key's limits would refuse whatever the body says.
 * What a request really takes is decided when its model is known, all at once; see {@link routes.quota}.
 */
@NullMarked
package routes.limits;

import org.jspecify.annotations.NullMarked;

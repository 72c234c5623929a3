/**
 * The request's state, shared by every stage: what the client sent, who it is, what it costs and how it ends.
 *
 * <p>One {@link routes.request.InferenceRequest} is the body of one Camel exchange. It belongs to one event loop; a stage
 * that leaves the loop comes back to it before it touches the state again. It ends once, in
 * {@link routes.request.InferenceRequest#finish}, which gives back all that the request held and has its usage line
 * written.
 */
@NullMarked
package routes.request;

import org.jspecify.annotations.NullMarked;

/**
 * The front door: camel-netty-http with a pipeline of its own for the paths of {@link routes.request.Api}, and Camel's
 * stock behaviour for every other route on the same port.
 *
 * <p>In the order of a request: {@link routes.door.DoorComponent} gives a port its {@link routes.door.DoorPort};
 * {@link routes.door.Http1Connection} reads heads ({@link routes.door.HeadParser}) and decides who answers; an inference
 * request becomes an exchange at its head ({@link routes.door.DoorExchange}) and has its body read when a step asks for it
 * ({@link routes.door.BodyCollector}); {@link routes.door.AnswerWriter} writes what goes back.
 */
@NullMarked
package routes.door;

import org.jspecify.annotations.NullMarked;

/**
 * Dromedary, one door to your models: an LLM inference gateway on Apache Camel and Netty.
 *
 * <p>The packages are the path of a request, in the order of {@code routes.yaml}:
 *
 * <ol>
 *   <li>{@link routes.door} reads requests and writes answers;
 *   <li>{@link routes.auth} finds out who asks;
 *   <li>{@link routes.limits} refuses at once a key that has nothing left;
 *   <li>{@link routes.prompt} waits for the body and reads what the gateway must know;
 *   <li>{@link routes.model} finds the route that serves the model;
 *   <li>{@link routes.affinity} chooses a replica and tries again elsewhere;
 *   <li>{@link routes.vllm} sends the request there and relays the answer;
 *   <li>{@link routes.usage} writes the line by which the request is billed.
 * </ol>
 *
 * <p>They don't know one another; what they share stands in {@link routes.request} (the request's state), {@link
 * routes.replica}, {@link routes.address} and {@link routes.health} (which replicas there are, and how they are), {@link
 * routes.queue}, {@link routes.quota}, {@link routes.relay}, {@link routes.error}, {@link routes.config}, {@link routes.net}, {@link
 * routes.telemetry} and {@link routes.tracing}. {@link routes.GatewayConfiguration} puts them together, a line for each stage.
 * {@link routes.demo} is a stand-in for vLLM, {@link routes.command} the command line.
 */
@NullMarked
package routes;

import org.jspecify.annotations.NullMarked;

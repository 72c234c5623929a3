/** Whole requests over real sockets: a gateway in this process, clients and fake replicas around it. */
package routes.journey;

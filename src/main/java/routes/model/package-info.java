/**
 * The {@code model:} component: a route serves a model by its name ({@code from: model:NAME?aliases=…}), and
 * {@code to: model:*} sends a request to the route that serves the model it asks for.
 */
@NullMarked
package routes.model;

import org.jspecify.annotations.NullMarked;

/**
 * Configuration: {@link routes.config.Setting} lists every property of the gateway with its type, default and meaning;
 * {@link routes.config.Settings} holds the checked values of one start.
 */
@NullMarked
package routes.config;

import org.jspecify.annotations.NullMarked;

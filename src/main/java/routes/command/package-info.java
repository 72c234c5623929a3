/**
 * The command line: {@link routes.command.Commands} reads it, a class for each command does what it says or hands on to
 * {@link routes.command.Entries}, which the root package puts together. {@code run} alone starts without this package.
 */
@NullMarked
package routes.command;

import org.jspecify.annotations.NullMarked;

/**
 * Usage accounting: one line of JSON for each request, by which people are billed.
 *
 * <p>The life of a record: admission takes a place ({@link routes.usage.UsageJournal#tryReserve}; none free, or the file
 * can't be written: 503). The request's end fills a {@link routes.usage.UsageRecord} and appends it from its event loop.
 * One writer thread encodes what has gathered and writes it to the file, then hands each record to the
 * {@code usage:completed} consumers. The place is free again when the line is in the file and every consumer is done with
 * the record, so a slow disk or consumer slows admission and loses nothing.
 *
 * <p><b>Threading</b>: event loops touch a counter and a multi-producer queue; files belong to the writer thread; each
 * consumer runs its exchanges on a thread of its own.
 */
@NullMarked
package routes.usage;

import org.jspecify.annotations.NullMarked;

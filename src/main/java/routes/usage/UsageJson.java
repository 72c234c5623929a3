package routes.usage;

import com.fasterxml.jackson.core.JsonGenerator;
import com.fasterxml.jackson.databind.JsonSerializer;
import com.fasterxml.jackson.databind.SerializerProvider;
import java.io.IOException;
import java.math.BigDecimal;
import java.time.Instant;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;

/** How a record's times and texts look when a route marshals it with Jackson: as in the journal's lines. */
final class UsageJson {

    private UsageJson() {}

    /** Milliseconds since 1970 as ISO-8601 in UTC. */
    static final class Time extends JsonSerializer<Long> {
        private static final DateTimeFormatter ISO =
                DateTimeFormatter.ofPattern("uuuu-MM-dd'T'HH:mm:ss.SSS'Z'").withZone(ZoneOffset.UTC);

        @Override
        public void serialize(Long millis, JsonGenerator json, SerializerProvider provider) throws IOException {
            json.writeString(ISO.format(Instant.ofEpochMilli(millis)));
        }
    }

    /** Microseconds as milliseconds with three decimals. */
    static final class Millis extends JsonSerializer<Long> {
        @Override
        public void serialize(Long micros, JsonGenerator json, SerializerProvider provider) throws IOException {
            json.writeNumber(BigDecimal.valueOf(micros, 3));
        }
    }

    /** A name or an id. */
    static final class Id extends JsonSerializer<String> {
        @Override
        public void serialize(String id, JsonGenerator json, SerializerProvider provider) throws IOException {
            json.writeString(UsageText.fit(id, UsageText.ID_BYTES));
        }
    }

    /** Any other text. */
    static final class Text extends JsonSerializer<String> {
        @Override
        public void serialize(String text, JsonGenerator json, SerializerProvider provider) throws IOException {
            json.writeString(UsageText.fit(text, UsageText.TEXT_BYTES));
        }
    }
}

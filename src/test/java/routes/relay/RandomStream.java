package routes.relay;

import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Random;
import org.jspecify.annotations.Nullable;

/** A random stream of events, with all that an observer should find in it. */
final class RandomStream {

    private static final String[] CONTENTS = {
        " hello",
        "caf\u00e9 \u5317 \ud83c\udf0d",
        "\\\"usage\\\":{}",
        "\\\\",
        "\\u0022}",
        "a]b}c",
        "",
        "data: x",
        "[DONE]"
    };

    /** A block's bytes, and whether it is the usage-only event. */
    static final class Block {
        private final byte[] bytes;
        private final boolean usageOnly;

        Block(byte[] bytes, boolean usageOnly) {
            this.bytes = bytes;
            this.usageOnly = usageOnly;
        }

        byte[] bytes() {
            return bytes;
        }

        boolean usageOnly() {
            return usageOnly;
        }
    }

    final List<Block> blocks = new ArrayList<>();
    long prompt = -1;
    long completion = -1;
    long total = -1;
    long cached = -1;
    long events;

    @Nullable
    String reason;

    boolean done;
    boolean error;
    boolean usageOnly;
    boolean running;

    private final Random random;
    private final String[] lineEnds;
    private String lastEnd = "\n";
    private ByteArrayOutputStream block = new ByteArrayOutputStream();

    /** @param mayLackEnd whether the last block may lack its blank line */
    RandomStream(Random random, int size, boolean mayLackEnd) {
        this.random = random;
        lineEnds = new String[][] {{"\n"}, {"\r\n"}, {"\r"}, {"\n", "\r\n", "\r"}}[random.nextInt(4)];
        if (random.nextInt(4) == 0) {
            blocks.add(new Block(new byte[] {(byte) 0xef, (byte) 0xbb, (byte) 0xbf}, false));
        }
        for (int i = 0; i < size; i++) {
            event();
        }
        if (mayLackEnd && random.nextInt(8) == 0) {
            unfinished();
        }
    }

    byte[] all() {
        return join(true);
    }

    byte[] withoutUsage() {
        return join(false);
    }

    private byte[] join(boolean usage) {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        for (Block each : blocks) {
            if (usage || !each.usageOnly()) {
                out.writeBytes(each.bytes());
            }
        }
        return out.toByteArray();
    }

    private void event() {
        switch (random.nextInt(13)) {
            case 0 -> plain(": processing");
            case 1 -> plain("retry: 3000");
            case 2 -> plain("event: ping", "id: 7");
            case 3 -> plain("data");
            case 4 -> plain("datax: {\"choices\":[1]}", "dat", "unknown");
            case 5 -> {
                plain("data:" + spaces() + "[DONE]" + spaces());
                done = true;
            }
            case 6 -> plain("data: {\"choices\":[], \"usage\":{\"prompt_tokens\":1}", "");
            case 7 -> {
                plain("data: {\"error\":{\"message\":\"x\",\"usage\":{}}}");
                error = true;
            }
            case 8, 9 -> usageOnly();
            default -> choices();
        }
    }

    private void choices() {
        StringBuilder json = new StringBuilder("{\"id\":\"chatcmpl-0123456789\",\"object\":\"chunk\",\"choices\":");
        String content = CONTENTS[random.nextInt(CONTENTS.length)];
        String finish = random.nextInt(4) == 0 ? new String[] {"stop", "length", "odd"}[random.nextInt(3)] : null;
        json.append("[{\"index\":0,\"delta\":{\"content\":\"").append(content).append("\",\"choices\":[]},");
        json.append("\"finish_reason\":")
                .append(finish == null ? "null" : "\"" + finish + "\"")
                .append("}]");
        events++;
        if (finish != null) {
            reason = finish;
        }
        if (random.nextInt(4) == 0) {
            json.append(",\"usage\":").append(usage(random.nextInt(50)));
            running = true;
        } else if (random.nextBoolean()) {
            json.append(",\"usage\":null");
        }
        json.append('}');
        json(json.toString(), false);
    }

    private void usageOnly() {
        int tokens = random.nextInt(100);
        String choices = "\"choices\":[" + spaces() + "]";
        String usage = "\"usage\":" + spaces() + usage(tokens);
        usageOnly = true;
        String members = random.nextBoolean() ? choices + "," + usage : usage + spaces() + "," + choices;
        json("{\"object\":\"chunk\"," + members + "}", true);
    }

    private String usage(int tokens) {
        prompt = 5;
        completion = tokens;
        total = 5L + tokens;
        cached = random.nextBoolean() ? tokens / 2 : -1;
        String details = cached < 0 ? "null" : "{\"audio_tokens\":0,\"cached_tokens\":" + cached + "}";
        return "{\"prompt_tokens\":5,\"total_tokens\":" + total + ",\"completion_tokens\":" + tokens
                + ",\"prompt_tokens_details\":" + details + "}";
    }

    /** JSON in one data line, or broken over two where JSON allows it; other fields around. */
    private void json(String json, boolean onlyUsage) {
        if (random.nextInt(6) == 0) {
            line(": leading comment");
            end(false);
        }
        if (random.nextInt(4) == 0) {
            line("event: message");
        }
        if (random.nextInt(4) == 0) {
            int at = json.indexOf("\"choices\"");
            line("data:" + spaces() + json.substring(0, at));
            line("data:" + spaces() + json.substring(at));
        } else {
            line("data:" + spaces() + json);
        }
        if (random.nextInt(6) == 0) {
            line(": trailing comment");
        }
        line("");
        end(onlyUsage);
    }

    private void plain(String... lines) {
        for (String each : lines) {
            if (!each.isEmpty()) {
                line(each);
            }
        }
        line("");
        if (random.nextInt(4) == 0) {
            line("");
        }
        end(false);
    }

    /** The stream's last event, without its blank line and perhaps without the end of its line. */
    private void unfinished() {
        boolean lineEnd = random.nextBoolean();
        String data = "data: {\"choices\":[],\"usage\":" + usage(7) + "}";
        if (lineEnd) {
            line(data);
        } else {
            block.writeBytes(data.getBytes(StandardCharsets.UTF_8));
        }
        usageOnly = true;
        end(true);
    }

    private void line(String text) {
        String lineEnd = lineEnds[random.nextInt(lineEnds.length)];
        if (text.isEmpty() && lastEnd.equals("\r") && lineEnd.equals("\n")) {
            lineEnd = "\r\n";
        }
        block.writeBytes((text + lineEnd).getBytes(StandardCharsets.UTF_8));
        lastEnd = lineEnd;
    }

    private void end(boolean onlyUsage) {
        blocks.add(new Block(block.toByteArray(), onlyUsage));
        block = new ByteArrayOutputStream();
    }

    private String spaces() {
        return " ".repeat(random.nextInt(3));
    }

    /** The data in chunks of random size, with extensions and trailers. */
    static byte[] chunked(Random random, byte[] data) {
        ByteArrayOutputStream wire = new ByteArrayOutputStream();
        int most = new int[] {1, 8, 100, 1000}[random.nextInt(4)];
        int p = 0;
        while (p < data.length) {
            int size = Math.min(data.length - p, 1 + random.nextInt(most));
            String hex = random.nextBoolean()
                    ? Integer.toHexString(size)
                    : "0" + Integer.toHexString(size).toUpperCase(Locale.ROOT);
            wire.writeBytes(RelayRun.bytes(hex + (random.nextInt(5) == 0 ? " ;name=\"value\"" : "") + "\r\n"));
            wire.write(data, p, size);
            wire.writeBytes(RelayRun.bytes("\r\n"));
            p += size;
        }
        wire.writeBytes(RelayRun.bytes(random.nextInt(4) == 0 ? "000\r\n" : "0\r\n"));
        if (random.nextInt(3) == 0) {
            wire.writeBytes(RelayRun.bytes("X-Trailer: 1\r\nX-Other: 2\r\n"));
        }
        wire.writeBytes(RelayRun.bytes("\r\n"));
        return wire.toByteArray();
    }

    /** Positions at which reads end, the last one at the end of the wire. */
    static List<Integer> reads(Random random, int length) {
        int most = new int[] {1, 3, 50, 400, 5000}[random.nextInt(5)];
        List<Integer> ends = new ArrayList<>();
        int p = 0;
        while (p < length) {
            p = Math.min(length, p + 1 + random.nextInt(most));
            ends.add(p);
        }
        return ends;
    }
}

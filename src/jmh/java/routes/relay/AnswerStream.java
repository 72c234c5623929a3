package routes.relay;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;

/** A chat answer as vLLM streams it: a role, tokens, a finish reason, the usage that was asked for and the end mark. */
final class AnswerStream {

    static final int EVENTS = 100;

    private static final String[] TOKENS = {
        " the", " camel", ",", " caf\u00e9", " said: \\\"no\\\"", "\\n\\n", " waits", "."
    };
    private static final String HEAD = "{\"id\":\"chatcmpl-0123456789abcdef0123456789abcdef\","
            + "\"object\":\"chat.completion.chunk\",\"created\":1769903999,\"model\":\"meta-llama/Llama-3.1-8B-Instruct\",";

    private AnswerStream() {}

    /** The blocks of the stream, one for each event. */
    static List<byte[]> blocks() {
        List<byte[]> blocks = new ArrayList<>();
        blocks.add(choice("{\"role\":\"assistant\",\"content\":\"\"}", "null"));
        while (blocks.size() < EVENTS - 3) {
            blocks.add(choice("{\"content\":\"" + TOKENS[blocks.size() % TOKENS.length] + "\"}", "null"));
        }
        blocks.add(choice("{\"content\":\"\"}", "\"stop\",\"stop_reason\":null"));
        blocks.add(block(HEAD + "\"choices\":[],\"usage\":{\"prompt_tokens\":24681,\"total_tokens\":24777,"
                + "\"completion_tokens\":96,\"prompt_tokens_details\":{\"cached_tokens\":24576}}}"));
        blocks.add(block("[DONE]"));
        return blocks;
    }

    /** A block as an HTTP chunk of its own. */
    static byte[] chunk(byte[] block) {
        String text = new String(block, StandardCharsets.UTF_8);
        return (Integer.toHexString(block.length) + "\r\n" + text + "\r\n").getBytes(StandardCharsets.UTF_8);
    }

    private static byte[] choice(String delta, String finish) {
        return block(HEAD + "\"choices\":[{\"index\":0,\"delta\":" + delta + ",\"logprobs\":null,\"finish_reason\":"
                + finish + ",\"token_ids\":null}]}");
    }

    private static byte[] block(String data) {
        return ("data: " + data + "\n\n").getBytes(StandardCharsets.UTF_8);
    }
}

package routes.demo;

import com.fasterxml.jackson.databind.node.ObjectNode;

/** Sends a completion, as one JSON or as events as they come, as the request asks. */
final class CompletionOutput implements Output {

    private final DemoConnection connection;
    private final CompletionJson json;
    private final boolean streaming;

    CompletionOutput(DemoConnection connection, CompletionJson json) {
        this.connection = connection;
        this.json = json;
        streaming = json.request.streaming().on();
    }

    @Override
    public void begin(int cachedTokens) {
        json.cached(cachedTokens);
    }

    @Override
    public void token(int index) {
        if (streaming && index == 0) {
            open();
        }
        json.count();
        for (int choice = 0; streaming && choice < json.request.choices(); choice++) {
            connection.event(json.token(choice, index));
        }
    }

    @Override
    public void end() {
        if (!streaming) {
            connection.json(200, json.whole());
            return;
        }
        for (int choice = 0; choice < json.request.choices(); choice++) {
            connection.event(json.ending(choice));
        }
        if (json.request.streaming().usage()) {
            connection.event(json.usageEvent());
        }
        connection.endStream();
    }

    private void open() {
        for (int choice = 0; choice < json.request.choices(); choice++) {
            ObjectNode opening = json.opening(choice);
            if (opening != null) {
                connection.event(opening);
            }
        }
    }
}

package routes.request;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import routes.error.ErrorCode;
import routes.error.GatewayException;
import routes.request.RequestHead.Expectation;
import routes.request.RequestHead.Method;

class StoredResponseTest {

    @ParameterizedTest
    @CsvSource({
        "/v1/responses, RESPONSES",
        "/v1/responses/resp_1, STORED_RESPONSE",
        "/v1/responses/resp_1/cancel, RESPONSE_CANCEL",
        "/v1/responses/cancel, STORED_RESPONSE",
        "/v1/messages, MESSAGES",
        "/v1/messages/count_tokens, MESSAGES_COUNT_TOKENS"
    })
    void pathsAreKnown(String path, Api api) {
        assertThat(Api.at(path)).isEqualTo(api);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "/v1/responses/",
                "/v1/responses//cancel",
                "/v1/responses/a/b",
                "/v1/responses/a/input_items",
                "/v1/responses/a%2Fb",
                "/v1/responses/{id}/cancel",
                "/v1/responses/a.b",
                "/v1/messages/",
                "/v1/messages/batches"
            })
    void otherPathsAreNot(String path) {
        assertThat(Api.at(path)).isNull();
    }

    @ParameterizedTest
    @CsvSource({
        "stream=true, ?stream=true, true",
        "stream=false, ?stream=false, false",
        "starting_after=12, ?starting_after=12, false",
        "'api_key=sk-1&starting_after=0&stream=true&include[]=x', ?stream=true&starting_after=0, true",
        "'', '', false"
    })
    void ofTheQueryOnlyWhatTheApiDefinesGoesOn(String query, String sent, boolean stream) throws GatewayException {
        StoredResponse stored = of(Api.STORED_RESPONSE, "/v1/responses/r1", query);
        assertThat(stored.id()).isEqualTo("r1");
        assertThat(stored.target()).isEqualTo("/v1/responses/r1" + sent);
        assertThat(stored.stream()).isEqualTo(stream);
    }

    @ParameterizedTest
    @ValueSource(strings = {"stream=1", "stream=", "starting_after=-1", "starting_after=x", "stream=true&stream=false"})
    void aQueryThatMakesNoSenseIsRefused(String query) {
        GatewayException refusal =
                catchThrowableOfType(GatewayException.class, () -> of(Api.STORED_RESPONSE, "/v1/responses/r1", query));
        assertThat(refusal).isNotNull();
        assertThat(refusal.code()).isIn(ErrorCode.INVALID_FIELD, ErrorCode.DUPLICATE_FIELD);
    }

    @Test
    void toCancelTakesNoQuery() throws GatewayException {
        StoredResponse stored = of(Api.RESPONSE_CANCEL, "/v1/responses/r1/cancel", "stream=true");
        assertThat(stored).isEqualTo(new StoredResponse("r1", false, "/v1/responses/r1/cancel"));
    }

    private static StoredResponse of(Api api, String path, @Nullable String query) throws GatewayException {
        RequestHead head = new RequestHead(
                new RequestHead.Line(Method.GET, path, query, 4, 4),
                new RequestHead.Fields(new byte[0], 1),
                new RequestHead.Framing(false, true, RequestHead.Framing.NO_LENGTH, Expectation.NONE));
        return StoredResponse.of(api, head);
    }
}

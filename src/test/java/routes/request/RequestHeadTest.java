package routes.request;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import routes.request.RequestHead.Expectation;
import routes.request.RequestHead.Fields;
import routes.request.RequestHead.Framing;
import routes.request.RequestHead.Known;
import routes.request.RequestHead.Line;
import routes.request.RequestHead.Method;

final class RequestHeadTest {

    @Test
    void givesTheFirstValueAndSaysThatThereWereMore() {
        RequestHead head = head("X-Api-Key: one", "x-api-key: two", "Accept: a");

        assertThat(head.header(Known.X_API_KEY)).isEqualTo("one");
        assertThat(head.repeated(Known.X_API_KEY)).isTrue();
        assertThat(head.repeated(Known.ACCEPT)).isFalse();
        assertThat(head.repeated(Known.AUTHORIZATION)).isFalse();
    }

    @Test
    void tellsAnEmptyValueFromNone() {
        RequestHead head = head("Accept:");

        assertThat(head.has(Known.ACCEPT)).isTrue();
        assertThat(head.header(Known.ACCEPT)).isEmpty();
        assertThat(head.valueLength(Known.ACCEPT)).isZero();
        assertThat(head.has(Known.TRACEPARENT)).isFalse();
        assertThat(head.header(Known.TRACEPARENT)).isNull();
        assertThat(head.valueStart(Known.TRACEPARENT)).isEqualTo(-1);
        assertThat(head.valueLength(Known.TRACEPARENT)).isZero();
    }

    @Test
    void givesValuesAsBytes() {
        RequestHead head = head("User-Agent: caf\u00e9");

        assertThat(new String(
                        head.bytes(),
                        head.valueStart(Known.USER_AGENT),
                        head.valueLength(Known.USER_AGENT),
                        StandardCharsets.ISO_8859_1))
                .isEqualTo("caf\u00e9");
    }

    @Test
    void findsAnyHeaderByItsLowerCaseName() {
        RequestHead head = head("OpenAI-Organization: org", "X_a: 1", "openai-organization: other");

        assertThat(head.header("openai-organization")).isEqualTo("org");
        assertThat(head.header("x_a")).isEqualTo("1");
        assertThat(head.header("x-a")).isNull();
        assertThat(head.header("openai")).isNull();
    }

    @Test
    void listsAllFieldsInOrder() {
        RequestHead head = head("B: 1", "a: 2", "B: 3");
        List<String> fields = new ArrayList<>();

        head.forEach((name, value) -> fields.add(name + '=' + value));

        assertThat(fields).containsExactly("B=1", "a=2", "B=3");
    }

    @ParameterizedTest
    @EnumSource(Known.class)
    void findsEachKnownHeaderInAnyCase(Known known) {
        for (String name : List.of(
                known.lowerCase(),
                known.lowerCase().toUpperCase(Locale.ROOT),
                known.name().replace('_', '-'))) {
            RequestHead head = head("A: b", name + ": v", "Z: y");
            assertThat(head.header(known)).isEqualTo("v");
        }
    }

    @ParameterizedTest
    @EnumSource(Known.class)
    void takesNoNeighbourForAKnownHeader(Known known) {
        String name = known.lowerCase();
        for (int i = 0; i < name.length(); i++) {
            RequestHead head = head(name.substring(0, i) + '~' + name.substring(i + 1) + ": v", name + "s: v");
            for (Known any : Known.values()) {
                assertThat(head.has(any)).as("%s at %s", any, i).isFalse();
            }
        }
    }

    @Test
    void findsAKnownHeaderAtTheVeryEndOfTheBytes() {
        byte[] bytes = "hOsT".getBytes(StandardCharsets.US_ASCII);

        assertThat(new Fields(bytes, 1).add(0, 4, 4, 4)).isEqualTo(Known.HOST);
    }

    @Test
    void canTakeTheLastFieldAwayAndReplaceAValue() {
        byte[] bytes = "Host: a\r\nHost: b\r\n".getBytes(StandardCharsets.US_ASCII);
        Fields fields = new Fields(bytes, 2);
        fields.add(0, 4, 6, 7);
        fields.add(9, 13, 15, 16);
        fields.removeLast();
        fields.replace(Known.HOST, 15, 16);
        fields.replace(Known.ACCEPT, 15, 16);
        RequestHead head = new RequestHead(
                new Line(Method.GET, "/", null, 0, 0), fields, new Framing(true, false, 4, Expectation.NONE));
        List<String> seen = new ArrayList<>();

        head.forEach((name, value) -> seen.add(name + '=' + value));

        assertThat(seen).containsExactly("Host=b");
        assertThat(head.repeated(Known.HOST)).isTrue();
        assertThat(head.has(Known.ACCEPT)).isFalse();
    }

    @Test
    void tellsTheWaysABodyIsFramed() {
        assertThat(framed(7).contentLength()).isEqualTo(7);
        assertThat(framed(7).chunked()).isFalse();
        assertThat(framed(Framing.NO_LENGTH).contentLength()).isEqualTo(-1);
        assertThat(framed(Framing.NO_LENGTH).chunked()).isFalse();
        assertThat(framed(Framing.CHUNKED).contentLength()).isEqualTo(-1);
        assertThat(framed(Framing.CHUNKED).chunked()).isTrue();
    }

    @Test
    void itsTextHoldsNeitherHeadersNorTheQuery() {
        RequestHead head = head("Authorization: Bearer secret", "X-Api-Key: secret");

        assertThat(head.toString()).isEqualTo("POST /v1 HTTP/1.1, 2 fields");
        assertThat(head.rawTarget()).isEqualTo("/v1?api_key=secret");
    }

    private static RequestHead framed(long length) {
        return new RequestHead(
                new Line(Method.POST, "/", null, 0, 0),
                new Fields(new byte[0], 0),
                new Framing(false, true, length, Expectation.NONE));
    }

    private static RequestHead head(String... lines) {
        String start = "POST /v1?api_key=secret HTTP/1.1\r\n";
        String text = start + String.join("\r\n", lines) + "\r\n\r\n";
        Fields fields = new Fields(text.getBytes(StandardCharsets.ISO_8859_1), lines.length);
        int at = start.length();
        for (String line : lines) {
            int colon = line.indexOf(':');
            int value = colon + 1 < line.length() ? colon + 2 : colon + 1;
            fields.add(at, at + colon, at + value, at + line.length());
            at += line.length() + 2;
        }
        return new RequestHead(
                new Line(Method.POST, "/v1", "api_key=secret", 5, 23),
                fields,
                new Framing(false, true, Framing.NO_LENGTH, Expectation.NONE));
    }
}

package routes.prompt;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class HeaderValueTest {

    @Test
    void aValueMayHaveParametersOfEitherForm() {
        assertThat(HeaderValue.parse("Form-Data ; Name=model;\tfilename=\"a; b=\\\"c\\\".wav\" ;x=\"\""))
                .isEqualTo(
                        new HeaderValue("form-data", Map.of("name", "model", "filename", "a; b=\"c\".wav", "x", "")));
    }

    @Test
    void anEmptyParameterIsNone() {
        assertThat(HeaderValue.parse("a/b;; ;x=1;")).isEqualTo(new HeaderValue("a/b", Map.of("x", "1")));
        assertThat(HeaderValue.parse("a/b")).isEqualTo(new HeaderValue("a/b", Map.of()));
    }

    @Test
    void aBackslashInAPathIsALetter() {
        assertThat(HeaderValue.parse("form-data; filename=\"C:\\dir\\a.wav\""))
                .isEqualTo(new HeaderValue("form-data", Map.of("filename", "C:\\dir\\a.wav")));
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "a; name=x; NAME=y",
                "a; name",
                "a; name =x",
                "a; name= x",
                "a; name= \"x\"",
                "a; name=",
                "a; =x",
                "a; name=\"x",
                "a; name=\"x\\\"",
                "a; name=\"x\\\\\"; name2=y",
                "a; name=\"x\"y; z=1",
                "a; name=x\"y\"",
                "a; name=x\\y"
            })
    void whatServersReadDifferentlyIsNoValue(String text) {
        assertThat(HeaderValue.parse(text)).isNull();
    }
}

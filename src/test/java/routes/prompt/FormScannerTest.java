package routes.prompt;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import io.netty.buffer.ByteBuf;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import routes.error.ErrorCode;
import routes.error.GatewayException;
import routes.fixture.Form;
import routes.request.Prompt;

class FormScannerTest {

    private static final String B = "xX-boundary_7";

    static Prompt scan(byte[] body, String type) throws GatewayException {
        ByteBuf buffer = Bodies.direct(body);
        try {
            int index = buffer.readerIndex();
            Prompt prompt = FormScanner.scan(buffer, Objects.requireNonNull(HeaderValue.parse(type)));
            assertThat(buffer.readerIndex()).isEqualTo(index);
            return prompt;
        } finally {
            assertThat(buffer.release()).isTrue();
        }
    }

    private static Prompt scan(byte[] body) throws GatewayException {
        return scan(body, "multipart/form-data; boundary=" + B);
    }

    private static GatewayException refusal(byte[] body, String type) {
        GatewayException refusal = catchThrowableOfType(GatewayException.class, () -> scan(body, type));
        assertThat(refusal).as("refusal of %s", text(body)).isNotNull();
        return refusal;
    }

    private static GatewayException refusal(byte[] body) {
        return refusal(body, "multipart/form-data; boundary=" + B);
    }

    private static String text(byte[] body) {
        return new String(body, StandardCharsets.ISO_8859_1);
    }

    private static Form form() {
        return new Form(B);
    }

    private static byte[] noise(int size) {
        byte[] noise = new byte[size];
        new java.util.Random(size).nextBytes(noise);
        return noise;
    }

    // ---- what is found

    @Test
    void theModelIsFoundBeforeAndBehindAFile() throws GatewayException {
        byte[] before = form().field("model", "m1")
                .file("file", "a.wav", noise(300_000))
                .end();
        byte[] behind = form().file("file", "a.wav", noise(300_000))
                .field("model", "m1")
                .end();
        for (byte[] body : new byte[][] {before, behind}) {
            Prompt prompt = scan(body);
            assertThat(prompt.model()).isEqualTo("m1");
            assertThat(text(Arrays.copyOfRange(body, prompt.modelStart(), prompt.modelEnd())))
                    .isEqualTo("m1");
            assertThat(prompt.form()).isTrue();
            assertThat(prompt.stream()).isFalse();
        }
    }

    @ParameterizedTest
    @CsvSource({"true,true", "True,true", "1,true", "on,true", "false,false", "0,false", "'',false", "NO,false"})
    void aStreamIsAskedForAsFormsSayIt(String value, boolean stream) throws GatewayException {
        assertThat(scan(form().field("stream", value).field("model", "m1").end()).stream())
                .isEqualTo(stream);
    }

    @Test
    void aNameIsReadAsItStands() throws GatewayException {
        assertThat(scan(form().field("model", " é😀 \r\n-- ").end()).model()).isEqualTo(" é😀 \r\n-- ");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "multipart/form-data; boundary=\"" + B + "\"",
                "Multipart/Form-Data;BOUNDARY=" + B + "; charset=UTF-8",
                "multipart/form-data; charset=us-ascii; boundary=" + B + ";"
            })
    void theBoundaryMayBeQuoted(String type) throws GatewayException {
        assertThat(scan(form().field("model", "m1").end(), type).model()).isEqualTo("m1");
    }

    @Test
    void aBoundaryMayBeOfOneLetterOrOfSeventyWithPunctuation() throws GatewayException {
        for (String boundary : new String[] {"x", "-", "a b'()+_,-./:=?", "y".repeat(70)}) {
            byte[] body = new Form(boundary)
                    .file("f", "f", noise(5000))
                    .field("model", "m1")
                    .end();
            assertThat(scan(body, "multipart/form-data; boundary=\"" + boundary + "\"")
                            .model())
                    .isEqualTo("m1");
        }
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "\r\n--" + B + "x\r\nContent-Disposition: form-data; name=\"model\"\r\n\r\nm2",
                "\r\n--" + B + "-x",
                "\r\n--" + B + "-",
                "\r\n--" + B + "\rx",
                "\n--" + B + "\nContent-Disposition: form-data; name=\"model\"\n\nm2",
                "--" + B + "x",
                "x--" + B + "\r\n",
                "\r\n-" + B + "\r\n",
                "\r\r\n--xX-boundary_",
                "\r\nContent-Disposition: form-data; name=\"model\"\r\n\r\nm2\r\n",
                ""
            })
    void whatOnlyLooksLikeABoundaryIsContent(String content) throws GatewayException {
        byte[] body = form().file("file", "a", content.getBytes(StandardCharsets.ISO_8859_1))
                .field("model", "m1")
                .end();
        assertThat(scan(body).model()).isEqualTo("m1");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "Content-Disposition: form-data; name=\"file\"; filename=\"name=\\\"model\\\"\"",
                "Content-Disposition: form-data; filename=\"x; name=model\"; name=\"file\"",
                "content-disposition:form-data;filename=name.model;name=file",
                "Content-Type: text/plain; name=\"model\"\r\nCONTENT-DISPOSITION: Form-Data; name=\"Model\"",
                "Content-Disposition: form-data; name=\"model[]\"",
                "Content-Disposition: form-data; name=\"\"",
                "Content-Disposition: form-data; name=\"file\"; filename=\"C:\\name\\model\"; filename*=utf-8''model",
                "X-Name: model\r\nContent-Disposition: form-data; name=mod"
            })
    void noOtherPartIsTheModel(String head) throws GatewayException {
        byte[] body = form().part(head, "m2".getBytes(StandardCharsets.US_ASCII))
                .field("model", "m1")
                .end();
        assertThat(scan(body).model()).isEqualTo("m1");
    }

    // ---- what is refused

    @ParameterizedTest
    @ValueSource(
            strings = {
                "multipart/form-data",
                "multipart/form-data; boundary=\"\"",
                "multipart/form-data; boundary=\"" + B + " \"",
                "multipart/form-data; boundary=" + B + "é",
                "multipart/form-data; boundary=\"a\tb\"",
                "multipart/form-data; boundary=yyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyy",
                "multipart/form-data; charset=utf-16; boundary=" + B
            })
    void aTypeWithoutAUsableBoundaryIsInvalid(String type) {
        assertThat(refusal(form().field("model", "m1").end(), type).code()).isEqualTo(ErrorCode.INVALID_FORM);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "--",
                "{\"model\":\"m1\"}",
                "preamble\r\n--" + B + "\r\n",
                "\r\n--" + B + "\r\n",
                "--" + B + " \r\n",
                "--" + B + "\n",
                "--" + B + "x\r\n",
                "--" + B + "\r\nContent-Disposition: form-data; name=a\r\n\r\n--" + B + "\r\n",
                "--" + B + "\r\nContent-Disposition: form-data; name=a\r\n\r\nx\r\n--" + B + " \r\n",
                "--" + B + "\r\nContent-Disposition: form-data; name=a\r\n\r\nx\r\n--" + B + "--\r\n\r\n",
                "--" + B + "\r\nContent-Disposition: form-data; name=a\r\n\r\nx\r\n--" + B + "--x",
                "--" + B + "\r\nContent-Disposition: form-data; name=a\r\n\r\nx\r\n--" + B + "--\r\n"
            })
    void whatIsNotExactlyAFormIsRefused(String beginning) {
        byte[] rest = form().field("model", "m1").end();
        byte[] body = (beginning + text(rest)).getBytes(StandardCharsets.ISO_8859_1);
        assertThat(refusal(body).code()).isEqualTo(ErrorCode.INVALID_FORM);
    }

    @Test
    void aFormThatIsCutOffAnywhereIsInvalid() throws GatewayException {
        byte[] body = form().field("model", "m1")
                .file("file", "a.wav", "\r\n--x\r\n".getBytes(StandardCharsets.US_ASCII))
                .end();
        int complete = body.length - 2;
        assertThat(scan(Arrays.copyOf(body, complete)).model()).isEqualTo("m1");
        for (int length = 0; length < body.length; length++) {
            if (length != complete) {
                assertThat(refusal(Arrays.copyOf(body, length)).code())
                        .as("cut at %d", length)
                        .isEqualTo(ErrorCode.INVALID_FORM);
            }
        }
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "Content-Type: text/plain",
                "Content-Disposition: form-data",
                "Content-Disposition: attachment; name=\"model\"",
                "Content-Disposition: form-data; name=\"a\"; name=\"model\"",
                "Content-Disposition: form-data; name=\"a\"\r\nContent-Disposition: form-data; name=\"model\"",
                "Content-Disposition: form-data; name=\"mo\\del\"",
                "Content-Disposition: form-data; name*=utf-8''model",
                "Content-Disposition: form-data; name=\"a\"; name*0=mo; name*1=del",
                "Content-Disposition: form-data; name=\"model",
                "Content-Disposition: form-data;\r\n name=\"model\"",
                "Content-Disposition : form-data; name=\"model\"",
                ": form-data; name=\"model\"",
                "Content-Disposition: form-data; name=\"a\nmodel\"",
                "Content-Disposition: form-data; name=\"a\rmodel\"",
                "Content-Disposition: form-data; name=\"a\0\""
            })
    void aPartWhoseNameDependsOnTheReaderIsRefused(String head) {
        byte[] body = form().field("model", "m1")
                .part(head, "m2".getBytes(StandardCharsets.US_ASCII))
                .end();
        assertThat(refusal(body).code()).isEqualTo(ErrorCode.INVALID_FORM);
    }

    @Test
    void headsAndPartsAreBounded() throws GatewayException {
        byte[] longHead = form().part(
                        "X: " + "x".repeat(4000) + "\r\nContent-Disposition: form-data; name=a", new byte[0])
                .field("model", "m1")
                .end();
        assertThat(scan(longHead).model()).isEqualTo("m1");
        byte[] tooLong = form().part(
                        "X: " + "x".repeat(4090) + "\r\nContent-Disposition: form-data; name=a", new byte[0])
                .field("model", "m1")
                .end();
        assertThat(refusal(tooLong).code()).isEqualTo(ErrorCode.INVALID_FORM);

        Form parts = form().field("model", "m1");
        for (int i = 1; i < 128; i++) {
            parts.field("f" + i, "");
        }
        assertThat(scan(parts.end()).model()).isEqualTo("m1");
        Form more = form().field("model", "m1");
        for (int i = 1; i < 129; i++) {
            more.field("f" + i, "");
        }
        assertThat(refusal(more.end()).code()).isEqualTo(ErrorCode.INVALID_FORM);
    }

    @Test
    void aFieldThatDecidesMayNotStandThereTwice() {
        refused(form().field("model", "m1").field("model", "m2").end(), ErrorCode.DUPLICATE_FIELD, "model");
        refused(form().field("model", "m1").field("model", "m1").end(), ErrorCode.DUPLICATE_FIELD, "model");
        refused(
                form().field("stream", "")
                        .field("model", "m")
                        .field("stream", "true")
                        .end(),
                ErrorCode.DUPLICATE_FIELD,
                "stream");
    }

    @Test
    void aFieldThatIsNoTextIsRefused() {
        String base64 = "Content-Disposition: form-data; name=model\r\nContent-Transfer-Encoding: base64";
        refused(form().file("model", "m1", new byte[] {'m', '1'}).end(), ErrorCode.INVALID_FIELD, "model");
        refused(form().part(base64, new byte[] {'b', 'T', 'E', '='}).end(), ErrorCode.INVALID_FIELD, "model");
        refused(form().field("model", "").end(), ErrorCode.INVALID_FIELD, "model");
        refused(form().field("stream", "maybe").field("model", "m1").end(), ErrorCode.INVALID_FIELD, "stream");
        refused(form().field("stream", "true     ").field("model", "m").end(), ErrorCode.INVALID_FIELD, "stream");
        refused(form().file("stream", "s", new byte[] {'1'}).end(), ErrorCode.INVALID_FIELD, "stream");
    }

    @Test
    void aFormNeedsAModel() {
        refused(form().file("file", "model", noise(100)).end(), ErrorCode.MISSING_MODEL, "model");
        refused(form().end(), ErrorCode.MISSING_MODEL, "model");
    }

    @Test
    void aNameThatIsTooLongIsNoModelsAndIsNotRepeated() {
        GatewayException refusal =
                refusal(form().field("model", "m".repeat(513)).end());
        assertThat(refusal.code()).isEqualTo(ErrorCode.MODEL_NOT_FOUND);
        assertThat(refusal.getMessage()).hasSizeLessThan(150);
    }

    private static void refused(byte[] body, ErrorCode code, @Nullable String param) {
        GatewayException refusal = refusal(body);
        assertThat(refusal.code()).isEqualTo(code);
        assertThat(refusal.param()).isEqualTo(param);
    }
}

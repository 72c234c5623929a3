package routes.prompt;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;
import net.jqwik.api.statistics.Statistics;
import org.jspecify.annotations.Nullable;
import routes.error.ErrorCode;
import routes.error.GatewayException;
import routes.fixture.Form;
import routes.request.Prompt;

/** The scanner beside a reader that takes the body apart as a string, and forms that are known to be right. */
class FormScannerProperties {

    private static final String[] PIECES = {
        "\r\n",
        "\r",
        "\n",
        "--",
        "-",
        " ",
        "\t",
        "b",
        "bb",
        "\r\n--b",
        "\r\n--bb",
        "\r\n--bb\r\n",
        "\r\n--bb--",
        "\0",
        "é",
        "name=\"model\"",
        "Content-Disposition: form-data; name=\"model\"\r\n\r\n",
        "m1",
        "\"",
        "\\",
        "filename",
        ";"
    };

    /** @param content of the field {@code model}, the body's parts and what stands between */
    record Made(String boundary, String model, boolean stream, byte[] body) {}

    @Property(tries = 3000)
    void findsTheModelInFormsThatAreRight(@ForAll("forms") Made form) throws GatewayException {
        Prompt prompt = FormScannerTest.scan(form.body, "multipart/form-data; boundary=" + form.boundary);
        assertThat(prompt.model()).isEqualTo(form.model);
        assertThat(prompt.stream()).isEqualTo(form.stream);
        assertThat(new String(
                        form.body,
                        prompt.modelStart(),
                        prompt.modelEnd() - prompt.modelStart(),
                        StandardCharsets.UTF_8))
                .isEqualTo(form.model);
    }

    @Property(tries = 10_000)
    void agreesWithANaiveReaderOnDamagedForms(@ForAll("damaged") Made form) {
        String expected = Naive.model(form.body, form.boundary);
        Prompt prompt = null;
        try {
            prompt = FormScannerTest.scan(form.body, "multipart/form-data; boundary=" + form.boundary);
        } catch (GatewayException e) {
            assertThat(e.code().status()).isBetween(400, 404);
            assertThat(e.code()).isNotEqualTo(ErrorCode.BAD_REQUEST);
        }
        Statistics.label("accepted").collect(prompt != null);
        // what is accepted is read as the naive reader reads it; what it can't read is refused
        if (prompt != null) {
            assertThat(prompt.model()).as(text(form.body)).isEqualTo(expected);
        }
    }

    @Provide
    Arbitrary<Made> forms() {
        return Arbitraries.randomValue(FormScannerProperties::make);
    }

    @Provide
    Arbitrary<Made> damaged() {
        return Arbitraries.randomValue(random -> {
            Made form = make(random);
            StringBuilder body = new StringBuilder(text(form.body));
            for (int i = random.nextInt(3); i >= 0; i--) {
                int at = random.nextInt(body.length() + 1);
                switch (random.nextInt(3)) {
                    case 0 -> body.insert(at, PIECES[random.nextInt(PIECES.length)].replace("bb", form.boundary));
                    case 1 -> body.delete(at, at + 1 + random.nextInt(4));
                    default -> body.delete(at, body.length()).append(random.nextBoolean() ? "--" : "\r\n");
                }
            }
            return new Made(
                    form.boundary, form.model, form.stream, body.toString().getBytes(StandardCharsets.ISO_8859_1));
        });
    }

    private static Made make(Random random) {
        String boundary = random.nextBoolean() ? "bb" : "b".repeat(1 + random.nextInt(40)) + random.nextInt(10);
        String model = "m" + content(random, boundary, 4).replace("é", "e");
        boolean stream = random.nextBoolean();
        List<String> order = new ArrayList<>(List.of("model", "stream"));
        for (int i = random.nextInt(4); i > 0; i--) {
            order.add(random.nextInt(order.size() + 1), random.nextBoolean() ? "file" : "prompt");
        }
        Form form = new Form(boundary);
        for (String name : order) {
            switch (name) {
                case "model" -> form.field(name, model);
                case "stream" -> form.field(name, stream ? "true" : "false");
                case "file" ->
                    form.file(
                            name,
                            random.nextBoolean() ? "a.wav" : "name=\\\"model\\\"; x",
                            content(random, boundary, 400).getBytes(StandardCharsets.ISO_8859_1));
                default ->
                    form.part(
                            "Content-Type: text/plain\r\nContent-Disposition: form-data; name=" + name,
                            content(random, boundary, 20).getBytes(StandardCharsets.ISO_8859_1));
            }
        }
        return new Made(boundary, model, stream, form.end());
    }

    /** Whatever isn't a boundary's line. */
    private static String content(Random random, String boundary, int most) {
        StringBuilder content = new StringBuilder();
        for (int i = random.nextInt(most); i > 0; i--) {
            content.append(PIECES[random.nextInt(PIECES.length)].replace("bb", boundary));
        }
        String text = content.toString();
        while (Pattern.compile("(\r\n|^)--" + boundary + "(\r(\n|$)|[ \t]|--|$)")
                .matcher(text)
                .find()) {
            text = text.replace("--" + boundary, "x");
        }
        return text;
    }

    private static String text(byte[] body) {
        return new String(body, StandardCharsets.ISO_8859_1);
    }

    /** Takes a form apart without a thought for cost; null for what is no form. */
    private static final class Naive {

        private static final Pattern NAME = Pattern.compile(
                "(?is)(?:^|\r\n)content-disposition:[ \t]*form-data[^\r\n]*?;[ \t]*name=(\"[^\"]*\"|[^\";]*)");

        static @Nullable String model(byte[] bytes, String boundary) {
            String body = text(bytes);
            if (!body.startsWith("--" + boundary)) {
                return null;
            }
            String rest = body.substring(("--" + boundary).length());
            String model = null;
            Pattern delimiter = Pattern.compile("\r\n--" + boundary + "(?=\r\n|--|[ \t])");
            while (rest.startsWith("\r\n")) {
                Matcher next = delimiter.matcher(rest);
                int headEnd = rest.indexOf("\r\n\r\n");
                if (headEnd < 2 || !next.find(headEnd + 4)) {
                    return null;
                }
                String head = rest.substring(2, headEnd);
                String withoutFile = head.replaceAll("filename=\"(?:[^\"\\\\]|\\\\\"|\\\\[^\"])*\"", "filename=x");
                Matcher name = NAME.matcher(withoutFile);
                if (!name.find()) {
                    return null;
                }
                if (name.group(1).replace("\"", "").strip().equals("model")) {
                    model = rest.substring(headEnd + 4, next.start());
                }
                rest = rest.substring(next.end());
            }
            boolean ends = rest.equals("--") || rest.equals("--\r\n");
            return ends && model != null
                    ? new String(model.getBytes(StandardCharsets.ISO_8859_1), StandardCharsets.UTF_8)
                    : null;
        }
    }
}

package routes.contract;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assumptions.assumeThat;

import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** What Camel and its tools find of the gateway's components by name. */
class ComponentMetadataTest {

    @ParameterizedTest
    @CsvSource({
        "model, routes.model.ModelComponent",
        "vllm, routes.vllm.VllmComponent",
        "usage, routes.usage.UsageComponent"
    })
    void camelFindsTheComponent(String scheme, String type) throws IOException {
        assertThat(read("META-INF/services/org/apache/camel/component/" + scheme))
                .contains("class=" + type);
    }

    @ParameterizedTest
    @CsvSource({"model, name, aliases", "vllm, address, slots", "vllm, address, apiKey", "usage, topic, batch"})
    void toolsFindItsOptions(String scheme, String path, String option) throws IOException {
        String catalogue = read("META-INF/routes/" + scheme + "/" + scheme + ".json");
        assumeThat(catalogue)
                .as("written by Camel's Maven plugin, which did not make this class path")
                .isNotNull();
        assertThat(catalogue)
                .contains("\"scheme\": \"" + scheme + "\"")
                .contains("\"" + path + "\"")
                .contains("\"" + option + "\"");
    }

    @ParameterizedTest
    @CsvSource({
        "model-component",
        "model-endpoint",
        "vllm-component",
        "vllm-endpoint",
        "usage-component",
        "usage-endpoint"
    })
    void optionsAreSetWithoutReflection(String configurer) throws IOException {
        String found = read("META-INF/services/org/apache/camel/configurer/" + configurer);
        assumeThat(found)
                .as("written by Camel's Maven plugin, which did not make this class path")
                .isNotNull();
        assertThat(found).contains("class=routes.");
    }

    private static @Nullable String read(String resource) throws IOException {
        try (InputStream in = ComponentMetadataTest.class.getClassLoader().getResourceAsStream(resource)) {
            return in == null ? null : new String(in.readAllBytes(), StandardCharsets.UTF_8);
        }
    }
}

package routes.contract;

import static org.assertj.core.api.Assertions.assertThat;

import com.networknt.schema.InputFormat;
import com.networknt.schema.Schema;
import com.networknt.schema.SchemaRegistry;
import com.networknt.schema.SpecificationVersion;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** The shipped routes against Camel's schema of its YAML. */
class RoutesSchemaTest {

    private static Schema schema;
    private static String routes;

    @BeforeAll
    static void read() throws IOException {
        try (InputStream in = resource("/schema/camelYamlDsl.json")) {
            schema = SchemaRegistry.withDefaultDialect(SpecificationVersion.DRAFT_4)
                    .getSchema(in, InputFormat.JSON);
        }
        try (InputStream in = resource("/routes.yaml")) {
            routes = new String(in.readAllBytes(), StandardCharsets.UTF_8);
        }
    }

    @Test
    void theShippedRoutesAreValid() {
        assertThat(schema.validate(routes, InputFormat.YAML)).isEmpty();
    }

    @Test
    void aTypoIsSeen() {
        String typo = routes.replaceFirst("customLoadBalancer", "customLoadBalancr");
        assertThat(typo).isNotEqualTo(routes);
        assertThat(schema.validate(typo, InputFormat.YAML)).isNotEmpty();
    }

    private static InputStream resource(String name) {
        InputStream in = RoutesSchemaTest.class.getResourceAsStream(name);
        assertThat(in).as(name).isNotNull();
        return in;
    }
}

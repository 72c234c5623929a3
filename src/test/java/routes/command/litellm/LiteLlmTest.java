package routes.command.litellm;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** What becomes of LiteLLM's settings; nothing is dropped without a word. */
class LiteLlmTest {

    private static final String ONE = """
            model_list:
              - model_name: m
                litellm_params:
                  model: hosted_vllm/m
                  api_base: http://gpu-1:8000/v1
                  %s
            """;

    @Test
    void deploymentsOfOneNameBecomeReplicasOfOneModel() throws IOException {
        Conversion made = convert("""
                model_list:
                  - model_name: llama
                    litellm_params: { model: hosted_vllm/meta-llama/Llama-3.1-8B-Instruct, api_base: "http://gpu-1:8000/v1" }
                  - model_name: llama
                    litellm_params: { model: hosted_vllm/meta-llama/Llama-3.1-8B-Instruct, api_base: "http://gpu-2:8000/v1/" }
                """);

        assertThat(made.models()).isEqualTo(1);
        assertThat(made.replicas()).isEqualTo(2);
        assertThat(made.routes())
                .contains("uri: \"model:llama\"")
                .contains("uri: \"vllm:http://gpu-1:8000\"", "uri: \"vllm:http://gpu-2:8000\"")
                .contains("{ slots: 256, model: \"meta-llama/Llama-3.1-8B-Instruct\" }")
                .contains("#door")
                .doesNotContain("model:demo", "hello");
    }

    @Test
    void theMasterKeyIsKeptForItsHash() throws IOException {
        assertThat(convert(ONE.formatted("") + "general_settings: { master_key: sk-1234 }")
                        .masterKey())
                .isEqualTo("sk-1234");
        assertThat(convert(ONE.formatted("") + "general_settings: { master_key: os.environ/MASTER }")
                        .masterKey())
                .isEqualTo("sk-of-the-environment");
        assertThat(convert(ONE.formatted("") + "general_settings: { master_key: os.environ/OTHER }")
                        .masterKey())
                .isNull();
        assertThat(convert(ONE.formatted("")).masterKey()).isNull();
    }

    @Test
    void apiKeysStayReferencesOrGoIntoTheProperties() throws IOException {
        Conversion made = convert(
                ONE.formatted("api_key: os.environ/KEY\n      extra_headers: { X-Team: sk-header }")
                        + "  - model_name: o\n    litellm_params: { model: gpt-4o, api_key: sk-secret, organization: org-1 }\n");

        assertThat(made.routes())
                .contains("apiKey: \"RAW({{env:KEY}})\"", "header.X-Team: \"RAW({{provider-key-1}})\"")
                .contains("apiKey: \"RAW({{provider-key-2}})\", header.OpenAI-Organization: \"org-1\"")
                .contains("vllm:https://api.openai.com\"")
                .doesNotContain("sk-");
        assertThat(made.properties()).containsValues("sk-header", "sk-secret");
        assertThat(made.report().variables()).containsExactly("KEY");
    }

    @ParameterizedTest
    @CsvSource({
        "timeout: 30, totalTimeout: 30s",
        "stream_timeout: 0.5, 'headTimeout: 500ms, stallTimeout: 500ms'",
        "max_parallel_requests: 64, slots: 64"
    })
    void aSettingOfADeploymentBecomesAnOption(String setting, String option) throws IOException {
        assertThat(convert(ONE.formatted(setting)).routes()).contains(option);
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "router_settings: { num_retries: 3 } | gateway.max-attempts | 4",
                "litellm_settings: { num_retries: 50 } | gateway.max-attempts | 16",
                "router_settings: { timeout: 20 } | gateway.total-timeout | 20s",
                "litellm_settings: { request_timeout: 10 } | gateway.total-timeout | 10s",
                "router_settings: { stream_timeout: 5 } | gateway.stall-timeout | 5s",
                "router_settings: { cooldown_time: 7 } | camel.resilience4j.waitDurationInOpenState | 7"
            })
    void aSettingOfAllBecomesAProperty(String setting, String property, String value) throws IOException {
        assertThat(convert(ONE.formatted("") + setting).properties()).containsEntry(property, value);
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "simple-shuffle | ref: affinity",
                "latency-based-routing | ref: affinity",
                "least-busy | ref: least-loaded"
            })
    void aStrategyBecomesABalancer(String strategy, String balancer) throws IOException {
        assertThat(convert(ONE.formatted("") + "router_settings: { routing_strategy: " + strategy + " }")
                        .routes())
                .contains(balancer);
    }

    @Test
    void aliasesAndTheFirstFallbackAreKept() throws IOException {
        Conversion made = convert("""
                model_list:
                  - { model_name: a, litellm_params: { model: openai/a, api_base: "http://h:1/v1" } }
                  - { model_name: b, litellm_params: { model: openai/b, api_base: "http://h:2/v1" } }
                  - { model_name: c, litellm_params: { model: bedrock/c } }
                router_settings:
                  model_group_alias: { x: a, y: { model: b, hidden: true }, z: c }
                  fallbacks: [{ a: [c, b] }, { b: [a] }, { c: [a] }]
                """);

        assertThat(made.routes()).contains("{ aliases: x, fallback: b }", "{ aliases: y }");
        assertThat(made.report().missing())
                .anyMatch(line -> line.contains("model_group_alias.z"))
                .anyMatch(line -> line.startsWith("fallbacks.a: c: "))
                .anyMatch(line -> line.startsWith("fallbacks.b: a: isn't converted, or would lead in a circle"))
                .anyMatch(line -> line.startsWith("fallbacks.c: "));
    }

    @Test
    void pricesOfATokenBecomeThoseOfAMillion() throws IOException {
        Conversion made = convert(ONE.formatted("input_cost_per_token: 0.00000025\n      output_cost_per_token: 1e-6")
                + "    model_info: { cache_read_input_token_cost: 2.5e-8 }\n");

        assertThat(made.prices()).isEqualTo("prices:\n  \"m\": { input: 0.25, cached-input: 0.025, output: 1 }\n");
    }

    @Test
    void oneServerWithSeveralKeysIsOneReplica() throws IOException {
        Conversion made = convert("""
                model_list:
                  - { model_name: a, litellm_params: { model: gpt-4o, api_key: os.environ/A } }
                  - { model_name: a, litellm_params: { model: gpt-4o, api_key: os.environ/B, max_parallel_requests: 300 } }
                  - { model_name: b, litellm_params: { model: gpt-4o-mini, api_key: os.environ/A } }
                """);

        assertThat(made.replicas()).isEqualTo(1);
        assertThat(made.routes()).containsOnlyOnce("RAW({{env:A}},{{env:B}})").doesNotContain("slots: 256");
        assertThat(made.report().differs()).anyMatch(line -> line.contains("one number of slots"));
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "{ model: azure/gpt, api_base: 'https://x/' }",
                "{ model: anthropic/claude }",
                "{ model: claude-3 }",
                "{ model: 'openai/*' }",
                "{ model: hosted_vllm/m }",
                "{ model: openai/m, api_base: 'https://h/other/path' }",
                "{ model: openai/m, api_base: os.environ/NO_SUCH }",
                "{ model: openai/m, custom_llm_provider: bedrock }",
                "{ api_base: 'http://h/v1' }"
            })
    void whatCanNotBeConvertedIsReported(String params) throws IOException {
        Conversion made = convert(ONE.formatted("") + "  - { model_name: other, litellm_params: " + params + " }\n");

        assertThat(made.models()).isEqualTo(1);
        assertThat(made.report().missing()).hasSize(1).allMatch(line -> line.startsWith("model_list[1]"));
    }

    @Test
    void everyEntryOfTheFileIsConvertedOrReported() throws IOException {
        Conversion made = convert(
                ONE.formatted("rpm: 1\n      weight: 2\n      never_heard_of: hidden-value\n      api_key: none")
                        + """
                    model_info: { id: x, mode: chat }
                router_settings: { redis_password: hidden-value, allowed_fails: 3, something: { else: hidden-value } }
                litellm_settings: { cache: true, drop_params: true, callbacks: [otel], set_verbose: true }
                general_settings: { database_url: hidden-value }
                environment_variables: { NAME: hidden-value }
                guardrails: [{ guardrail_name: hidden-value }]
                """);

        String all = String.join("\n", made.report().missing())
                + String.join("\n", made.report().needless())
                + String.join("\n", made.report().differs());
        assertThat(all)
                .contains(
                        "litellm_params.rpm",
                        "litellm_params.weight",
                        "litellm_params.never_heard_of",
                        "params.api_key")
                .contains("model_info.id", "model_info.mode", "redis_password", "allowed_fails", "something")
                .contains("cache", "drop_params", "callbacks", "set_verbose", "database_url", "guardrails")
                .contains("environment_variables.NAME")
                .doesNotContain("hidden-value");
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "a: [ | config.yaml:1: is not valid YAML",
                "[] | config.yaml: the file: no mapping",
                "model_list: {} | config.yaml: model_list: not a list",
                "model_list: [] | config.yaml: no entry of model_list can be converted"
            })
    void aFileThatIsNoneIsNamed(String text, String message) {
        assertThatThrownBy(() -> convert(text))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageStartingWith(message);
    }

    private static Conversion convert(String text) throws IOException {
        return LiteLlm.convert("config.yaml", text, Map.of("MASTER", "sk-of-the-environment")::get);
    }
}

package routes.command.litellm;

import java.util.HashMap;
import java.util.Map;
import java.util.Set;

/** What to do instead, by the name of a setting that has no counterpart. */
final class Advice {

    /** What needs nothing. */
    static final Set<String> NEEDLESS = Set.of(
            "set_verbose",
            "json_logs",
            "background_health_checks",
            "health_check_interval",
            "disable_master_key_return",
            "disable_spend_logs",
            "disable_spend_updates",
            "use_aiohttp_transport");

    static final Map<String, String> BY_KEY = new HashMap<>();

    static {
        String limits = "limits belong to keys here: requests-per-minute, tokens-per-minute and concurrent-requests in"
                + " keys.yaml; slots bound what a replica runs at once";
        say(limits, "rpm", "tpm", "global_max_parallel_requests", "max_budget", "budget_duration");
        say(
                "a replica is chosen by its warm prefix cache and its load, not by numbers given beforehand",
                "weight",
                "order",
                "routing_strategy_args",
                "optional_pre_call_checks");
        say("second tries are set for all models: gateway.max-attempts, gateway.retry-budget", "max_retries");
        say(
                "the statuses that are tried again are set for all models: gateway.retry-statuses",
                "retry_policy",
                "retry_after",
                "model_group_retry_policy");
        say(
                "a breaker opens by the rate of failed connections: camel.resilience4j.failureRateThreshold; error"
                        + " statuses never count",
                "allowed_fails",
                "allowed_fails_policy",
                "disable_cooldowns");
        say(
                "requests reach the replica as the client wrote them: clients send it, or a step in routes.yaml"
                        + " adds it",
                "temperature",
                "max_tokens",
                "max_completion_tokens",
                "top_p",
                "seed",
                "stop",
                "n",
                "user",
                "extra_body",
                "presence_penalty",
                "frequency_penalty",
                "reasoning_effort",
                "default_max_tokens");
        say(
                "nothing is taken out of a request: the replica answers what it does not understand",
                "drop_params",
                "additional_drop_params",
                "modify_params",
                "allowed_openai_params");
        say(
                "answers are not cached; what is used is the replicas' prefix caches (affinity)",
                "cache",
                "cache_params",
                "cache_responses",
                "caching_groups",
                "enable_caching_on_provider_specific_optional_params");
        say(
                "metrics are at /observe/metrics, and each finished request is one usage line; for other targets write a"
                        + " route from usage:completed",
                "callbacks",
                "success_callback",
                "failure_callback",
                "service_callbacks",
                "callback_settings",
                "turn_off_message_logging",
                "redact_user_api_key_info",
                "store_prompts_in_spend_logs");
        say(
                "a fallback is taken only when no replica can be reached or the queue is full; a prompt that is too"
                        + " long gets the replica's own error",
                "context_window_fallbacks",
                "content_policy_fallbacks",
                "default_fallbacks",
                "max_fallbacks",
                "enable_pre_call_checks");
        say(
                "keys, teams and budgets of LiteLLM's database are not read: make keys with 'dromedary keys new',"
                        + " budgets in keys.yaml",
                "database_url",
                "database_connection_pool_limit",
                "database_connection_timeout",
                "allow_requests_on_db_unavailable",
                "store_model_in_db",
                "key_generation_settings",
                "default_internal_user_params",
                "default_team_settings");
        say("alerts come from Prometheus", "alerting", "alerting_threshold", "alerting_args", "alert_types");
        say("balancing needs nothing that gateways share", "redis_host", "redis_port", "redis_password", "redis_url");
        say("is not read: import each file by itself, or make one of them", "include");
        say("a step of your own in routes.yaml can do this", "guardrails", "custom_auth", "prompts");
    }

    private Advice() {}

    private static void say(String advice, String... keys) {
        for (String key : keys) {
            BY_KEY.put(key, advice);
        }
    }
}

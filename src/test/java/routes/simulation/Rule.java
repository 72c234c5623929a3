package routes.simulation;

import java.util.function.Function;

/** The rules that are compared: the product's, those of others as their sources have them, and ones that must be worse. */
enum Rule {
    ORACLE("oracle", gateway -> new Peers.Oracle(gateway, 4)),
    NESTED("nested rendezvous", gateway -> new NestedRouter(gateway, NestedRouter.Variant.PRODUCT)),
    QUEUED("nested, queue at the gateway", gateway -> new QueuedRouter(gateway, Engine.SLOTS)),
    LEARNED("nested, learned warmth", gateway -> new NestedRouter(gateway, NestedRouter.Variant.LEARNED)),
    LLM_D("llm-d 2:2:3", Peers.LlmD::new),
    SGLANG("SGLang cache_aware", Peers.SgLang::new),
    CHWBL("CHWBL 1.25", Peers.BoundedLoads::new),
    RENDEZVOUS("rendezvous", Peers.Rendezvous::new),
    LEAST_LOADED("least loaded", Peers.LeastLoaded::new),
    ROUND_ROBIN("round robin", Peers.RoundRobin::new),
    RANDOM("random", Peers.Chance::new),

    /** Counts a cached token no dearer than one in the way: the capacities are measured with it. */
    PLAIN_ORACLE("plain oracle", gateway -> new Peers.Oracle(gateway, 1)),

    SETS_OF_ONE("home sets of one", gateway -> new NestedRouter(gateway, NestedRouter.Variant.SETS_OF_ONE)),
    SYSTEM_KEYS("system prompt only", gateway -> new NestedRouter(gateway, NestedRouter.Variant.SYSTEM_KEYS)),
    SPILL("any free slot", Peers.Spill::new);

    final String title;
    private final Function<Gateway, Router> factory;

    Rule(String title, Function<Gateway, Router> factory) {
        this.title = title;
        this.factory = factory;
    }

    Router router(Gateway of) {
        return factory.apply(of);
    }
}

package routes;

import routes.relay.AnswerFacts;
import routes.request.InferenceRequest;
import routes.request.Outcome;
import routes.usage.UsageRecord.Source;

/**
 * The tokens of a request that has ended, as its usage line tells them; -1 for those that nobody knows.
 *
 * <p>What the replica counted stands as it is. Of a stream that did not come to its end the gateway counts what the replica
 * did not: each event is a token of the answer, and the prompt is estimated. Limits are charged the same numbers.
 *
 * @param source who counted
 */
record UsedTokens(long prompt, long completion, long total, Source source) {

    static UsedTokens of(InferenceRequest request, Outcome outcome) {
        AnswerFacts facts = request.facts();
        if (outcome == Outcome.SUCCESS || facts.usageFinal()) {
            return told(facts, Source.FINAL);
        }
        boolean counted = facts.completionTokens() >= 0 && facts.uncountedEvents() == 0;
        if (counted || !isStreamBegun(request, outcome)) {
            return told(facts, Source.RUNNING);
        }
        long prompt = request.promptTokens();
        long completion = request.answerTokens();
        return new UsedTokens(prompt, completion, prompt + completion, Source.ESTIMATED);
    }

    private static UsedTokens told(AnswerFacts facts, Source source) {
        return new UsedTokens(
                facts.promptTokens(),
                facts.completionTokens(),
                facts.totalTokens(),
                facts.usageKnown() ? source : Source.NONE);
    }

    /** A refusal is an answer too, and brought nothing. */
    private static boolean isStreamBegun(InferenceRequest request, Outcome outcome) {
        boolean refused = outcome == Outcome.UPSTREAM_ERROR && request.facts().events() == 0;
        return request.isStream()
                && request.isAnswering()
                && !refused
                && request.target().costsTokens();
    }
}

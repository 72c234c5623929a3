package routes.relay;

/** An answer that is one JSON document. */
final class DocumentScanner implements Observer {

    private final AnswerFacts facts;
    private final AnswerWalker json;

    DocumentScanner(AnswerFacts facts) {
        this.facts = facts;
        json = new AnswerWalker(facts.dialect().document());
    }

    @Override
    public void data(byte[] bytes, int from, int to) {
        int p = from;
        while (p < to) {
            p = json.walk(bytes, p, to) + 1;
        }
    }

    @Override
    public void end() {
        if (json.complete()) {
            facts.document(json);
        }
    }
}

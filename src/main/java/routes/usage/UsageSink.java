package routes.usage;

/** Gets each record after its line is in the journal's file, as {@code usage:} consumers do. */
public interface UsageSink {

    /**
     * Takes a record. A place in the journal stays taken until {@link Delivery#done()}, so what a sink may have to hold is
     * bounded, and a slow one slows admission.
     *
     * <p><b>Threading</b>: called on the journal's writer thread; must not block.
     */
    void deliver(Delivery delivery);

    /** One record on its way to a sink. */
    interface Delivery {

        UsageRecord record();

        /** The sink is finished with the record; to be called exactly once, from any thread. */
        void done();
    }
}

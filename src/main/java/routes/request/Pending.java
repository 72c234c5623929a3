package routes.request;

/** A stage that holds the request's exchange and will go on with it later. */
@FunctionalInterface
public interface Pending {

    /** The request has ended meanwhile: give back what this stage holds and go on with the exchange now. */
    void cancel();
}

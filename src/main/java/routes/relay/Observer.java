package routes.relay;

/** Looks into the data of a body, in pieces of any size. */
interface Observer {

    /** Borrows the bytes; must not change them. */
    void data(byte[] bytes, int from, int to);

    /** The body ended where it should. */
    void end();
}

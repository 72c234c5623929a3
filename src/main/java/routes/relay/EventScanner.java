package routes.relay;

/**
 * Server-sent events: finds lines, {@code data:} fields and the blank lines that end a block, and hands the JSON in
 * them to a walker. Lines end with LF, CRLF or CR, in any mixture and wherever reads are split.
 *
 * <p>A comment line in front of a block, and the byte order mark at the stream's start, count as blocks of their own.
 *
 * <p><b>Threading</b>: event-loop confined.
 */
final class EventScanner implements Observer {

    private static final byte[] FIELD = {'d', 'a', 't', 'a'};
    private static final byte[] DONE = {'[', 'D', 'O', 'N', 'E', ']'};
    private static final byte[] BYTE_ORDER_MARK = {(byte) 0xef, (byte) 0xbb, (byte) 0xbf};

    private static final int STREAM_START = 0;
    private static final int LINE_START = 1;
    private static final int NAME = 2;
    private static final int DATA = 3;
    private static final int IGNORED = 4;
    private static final int LEADING_COMMENT = 5;

    /** What the data of a block is, as its first byte tells. */
    private enum Data {
        NONE,
        JSON,
        TEXT
    }

    private final AnswerFacts facts;
    private final AnswerWalker json;

    private int state = STREAM_START;
    private int matched;
    private boolean afterCr;
    private boolean inBlock;
    private Data data = Data.NONE;
    private int done;
    private boolean blockEnded;
    private boolean usageOnly;

    EventScanner(AnswerFacts facts) {
        this.facts = facts;
        json = new AnswerWalker(facts.dialect().event());
    }

    @Override
    public void data(byte[] bytes, int from, int to) {
        int p = from;
        while (p < to) {
            p = scan(bytes, p, to);
        }
    }

    /** The last block may lack its blank line. */
    @Override
    public void end() {
        dispatch();
    }

    /**
     * Reads on until a block ends or the bytes run out.
     *
     * @return the position after the block when {@link #blockEnded()}, else {@code to}
     */
    int scan(byte[] bytes, int from, int to) {
        blockEnded = false;
        int p = from;
        if (afterCr && p < to) {
            p = skipLineFeed(bytes, p);
        }
        while (p < to) {
            switch (state) {
                case STREAM_START -> p = mark(bytes, p);
                case LINE_START -> p = line(bytes, p, to);
                case NAME -> p = name(bytes, p);
                case DATA -> p = value(bytes, p, to);
                default -> p = ignored(bytes, p, to);
            }
            if (blockEnded) {
                return p;
            }
        }
        return p;
    }

    /** Whether the last {@link #scan} stopped behind a block. */
    boolean blockEnded() {
        return blockEnded;
    }

    /** Whether the block that ended last is the usage-only event. */
    boolean usageOnly() {
        return usageOnly;
    }

    /** Whether the block that has begun can not become the usage-only event any more. */
    boolean ruledOut() {
        return data == Data.TEXT || (data == Data.JSON && (json.choicesFilled() || json.errorSeen() || json.broken()));
    }

    /** Whether no block has begun since the last one ended. */
    boolean betweenBlocks() {
        return state == LINE_START && !inBlock;
    }

    /** Takes a LF that is the second half of the CRLF behind the last block. */
    boolean takeLineFeed(byte next) {
        if (!afterCr || state != LINE_START || inBlock) {
            return false;
        }
        afterCr = false;
        return next == '\n';
    }

    private int skipLineFeed(byte[] bytes, int p) {
        afterCr = false;
        return bytes[p] == '\n' ? p + 1 : p;
    }

    private int mark(byte[] bytes, int p) {
        if (bytes[p] != BYTE_ORDER_MARK[matched]) {
            state = matched == 0 ? LINE_START : IGNORED;
            return p;
        }
        if (++matched == BYTE_ORDER_MARK.length) {
            state = LINE_START;
            endBlock(false);
        }
        return p + 1;
    }

    private int line(byte[] bytes, int p, int to) {
        byte c = bytes[p];
        if (c == 'd'
                && to - p > FIELD.length
                && bytes[p + 1] == 'a'
                && bytes[p + 2] == 't'
                && bytes[p + 3] == 'a'
                && bytes[p + 4] == ':') {
            state = DATA;
            return p + FIELD.length + 1;
        }
        if (c == '\n' || c == '\r') {
            dispatch();
            return lineEnd(bytes, p, to);
        }
        if (c == ':') {
            state = inBlock ? IGNORED : LEADING_COMMENT;
            return p + 1;
        }
        state = NAME;
        matched = 0;
        return p;
    }

    private int name(byte[] bytes, int p) {
        byte c = bytes[p];
        if (matched < FIELD.length && c == FIELD[matched]) {
            matched++;
            return p + 1;
        }
        if (matched == FIELD.length && c == ':') {
            state = DATA;
            return p + 1;
        }
        state = IGNORED;
        return p;
    }

    private int value(byte[] bytes, int from, int to) {
        int p = from;
        if (data == Data.NONE) {
            while (p < to && (bytes[p] == ' ' || bytes[p] == '\t')) {
                p++;
            }
            if (p == to) {
                return p;
            }
            if (bytes[p] == '{') {
                data = Data.JSON;
                json.begin();
            } else if (bytes[p] != '\n' && bytes[p] != '\r') {
                data = Data.TEXT;
                done = 0;
            }
        }
        if (data == Data.JSON) {
            p = json.walk(bytes, p, to);
        } else if (data == Data.TEXT) {
            p = text(bytes, p, to);
        }
        return p < to ? endLine(bytes, p, to) : p;
    }

    private int text(byte[] bytes, int from, int to) {
        int p = from;
        while (p < to && bytes[p] != '\n' && bytes[p] != '\r') {
            byte c = bytes[p++];
            if (done < DONE.length && c == DONE[done]) {
                done++;
            } else if (done < DONE.length || (c != ' ' && c != '\t')) {
                done = DONE.length + 1;
            }
        }
        return p;
    }

    private int ignored(byte[] bytes, int from, int to) {
        int p = from;
        while (p < to && bytes[p] != '\n' && bytes[p] != '\r') {
            p++;
        }
        if (p == to) {
            return p;
        }
        if (state == LEADING_COMMENT) {
            endBlock(false);
            return lineEnd(bytes, p, to);
        }
        return endLine(bytes, p, to);
    }

    private int endLine(byte[] bytes, int p, int to) {
        inBlock = true;
        return lineEnd(bytes, p, to);
    }

    private int lineEnd(byte[] bytes, int p, int to) {
        state = LINE_START;
        if (bytes[p] == '\n') {
            return p + 1;
        }
        if (p + 1 < to) {
            return bytes[p + 1] == '\n' ? p + 2 : p + 1;
        }
        afterCr = true;
        return p + 1;
    }

    private void dispatch() {
        boolean complete = data == Data.JSON && json.complete();
        if (complete) {
            facts.event(json);
        } else if (data == Data.TEXT) {
            facts.sawDone(done == DONE.length);
        }
        endBlock(complete && json.usageOnly());
    }

    private void endBlock(boolean onlyUsage) {
        usageOnly = onlyUsage;
        blockEnded = true;
        inBlock = false;
        data = Data.NONE;
    }
}

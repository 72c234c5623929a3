package routes.demo;

import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** The text that every answer is cut from, as pieces like a tokenizer's: a word with the space before it, or a mark. */
final class Passage {

    private static final String TEXT = """
            A dromedary has one hump and a long memory for water. \
            It walks for days through dry country, carries what it is given, and does not hurry. \
            A gateway is much the same: it stands between those who ask and those who answer, \
            looks at each load once, and picks the road with care. \
            When one well is dry, it leads the caravan to the next. \
            When too many riders come at once, it asks the last of them to wait in the shade. \
            It remembers who has walked with whom, so that nobody carries the same load twice. \
            And when the ride is over, it counts what was carried and writes it down.""";

    private static final List<String> PIECES = new ArrayList<>();
    private static final List<Integer> SENTENCES = new ArrayList<>();

    static {
        Matcher piece = Pattern.compile("\\s?(?:\\w+|[^\\w\\s])").matcher(TEXT);
        SENTENCES.add(0);
        while (piece.find()) {
            PIECES.add(PIECES.isEmpty() ? " " + piece.group() : piece.group());
            if (piece.group().equals(".")) {
                SENTENCES.add(PIECES.size());
            }
        }
        SENTENCES.remove(SENTENCES.size() - 1);
    }

    private final int start;

    /** Begins at a sentence chosen by the seed; the same seed gives the same text. */
    Passage(long seed) {
        start = SENTENCES.get((int) Long.remainderUnsigned(seed, SENTENCES.size()));
    }

    /** The piece at an index from 0; the passage begins anew at its end. */
    String piece(int index) {
        String piece = PIECES.get((start + index) % PIECES.size());
        return index == 0 ? piece.stripLeading() : piece;
    }

    String text(int pieces) {
        StringBuilder text = new StringBuilder(pieces * 6);
        for (int i = 0; i < pieces; i++) {
            text.append(piece(i));
        }
        return text.toString();
    }
}

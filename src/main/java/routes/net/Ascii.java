package routes.net;

/** Comparison of bytes with ASCII text, where upper and lower case of a letter are the same. */
public final class Ascii {

    private Ascii() {}

    /**
     * Whether the bytes, their letters in lower case, are this text.
     *
     * @param lowerCase ASCII without capitals
     */
    public static boolean equalsIgnoreCase(byte[] bytes, int start, int end, String lowerCase) {
        int length = lowerCase.length();
        if (end - start != length) {
            return false;
        }
        for (int i = 0; i < length; i++) {
            int c = bytes[start + i];
            if ((c >= 'A' && c <= 'Z' ? c | 0x20 : c) != lowerCase.charAt(i)) {
                return false;
            }
        }
        return true;
    }
}

package routes.journey;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.SocketTimeoutException;
import java.util.ArrayList;
import java.util.List;

/** A port of the loopback address whose connections neither come about nor fail: its backlog is full for good. */
final class BlackHole implements AutoCloseable {

    private static final int CONNECT_MILLIS = 200;
    private static final int MOST_FILLERS = 64;

    private final ServerSocket server = new ServerSocket(0, 1, InetAddress.getLoopbackAddress());
    private final List<Socket> fillers = new ArrayList<>();

    private BlackHole() throws IOException {}

    static BlackHole open() throws IOException {
        BlackHole hole = new BlackHole();
        while (hole.takesAnother()) {
            if (hole.fillers.size() > MOST_FILLERS) {
                throw new IOException("the backlog does not fill");
            }
        }
        return hole;
    }

    private boolean takesAnother() throws IOException {
        Socket filler = new Socket();
        fillers.add(filler);
        try {
            filler.connect(new InetSocketAddress(server.getInetAddress(), server.getLocalPort()), CONNECT_MILLIS);
            return true;
        } catch (SocketTimeoutException e) {
            return false;
        }
    }

    String url() {
        return "http://127.0.0.1:" + server.getLocalPort();
    }

    @Override
    public void close() throws IOException {
        for (Socket filler : fillers) {
            filler.close();
        }
        server.close();
    }
}

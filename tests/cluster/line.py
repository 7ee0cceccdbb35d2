"""A line between two machines that can be cut: a TCP proxy of the test's own."""

import socket
import threading


class Line:
    """Forwards connections to a port of loopback. While it is cut it silently drops all bytes, like a network that
    loses packets; when it is mended, connections that have lost bytes end."""

    def __init__(self, target=None):
        self.target = target  # port
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]
        self.whole = threading.Event()
        self.whole.set()
        threading.Thread(target=self._accept, daemon=True).start()

    @property
    def endpoints(self):
        """The line's address in the form of Etcd.endpoints."""
        return f"127.0.0.1:{self.port}"

    def cut(self):
        self.whole.clear()

    def mend(self):
        self.whole.set()

    def _accept(self):
        while True:
            try:
                near, _ = self.listener.accept()
            except OSError:
                return  # closed
            threading.Thread(target=self._carry, args=(near,), daemon=True).start()

    def _carry(self, near):
        self.whole.wait()
        try:
            far = socket.create_connection(("127.0.0.1", self.target))
        except OSError:
            near.close()
            return
        back = threading.Thread(target=self._pump, args=(far, near), daemon=True)
        back.start()
        self._pump(near, far)
        back.join()
        near.close(), far.close()

    def _pump(self, source, sink):
        try:
            while data := source.recv(1 << 16):
                if not self.whole.is_set():
                    self.whole.wait()
                    break  # these bytes are lost
                sink.sendall(data)
        except OSError:
            pass
        for end in (source, sink):
            try:
                end.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass  # it has ended already

    def close(self):
        self.listener.close()
        self.whole.set()

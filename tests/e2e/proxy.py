"""A TCP proxy between the browser and the app, whose connections a test can break."""

import socket
import threading
from contextlib import suppress


class FlakyProxy:
    """Forwards to `address`. `disconnect` drops open connections and refuses new ones until `reconnect`."""

    def __init__(self, address: str) -> None:
        host, port = address.removeprefix("http://").split(":")
        self._target = (host, int(port))
        self._listener = socket.create_server(("127.0.0.1", 0))
        self._open: set[socket.socket] = set()
        self._disconnected = False
        self.address = f"http://127.0.0.1:{self._listener.getsockname()[1]}"
        threading.Thread(target=self._accept, daemon=True).start()

    def drop_connections(self) -> None:
        for one in list(self._open):
            with suppress(OSError):
                one.shutdown(socket.SHUT_RDWR)
            one.close()
        self._open.clear()

    def disconnect(self) -> None:
        self._disconnected = True
        self.drop_connections()

    def reconnect(self) -> None:
        self._disconnected = False

    def close(self) -> None:
        self._listener.close()
        self.disconnect()

    def _accept(self) -> None:
        with suppress(OSError):
            while True:
                client, _ = self._listener.accept()
                self._connect(client)

    def _connect(self, client: socket.socket) -> None:
        if self._disconnected:
            return client.close()
        try:
            upstream = socket.create_connection(self._target)
        except OSError:  # the app is down
            return client.close()
        self._open |= {client, upstream}
        for one, other in ((client, upstream), (upstream, client)):
            threading.Thread(target=self._pump, args=(one, other), daemon=True).start()
        return None

    def _pump(self, one: socket.socket, other: socket.socket) -> None:
        with suppress(OSError):
            while data := one.recv(65536):
                other.sendall(data)
        for end in (one, other):
            with suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)
            end.close()
            self._open.discard(end)

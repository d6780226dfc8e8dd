"""A cable between the browser and the house that a test can pull out."""

import socket
import threading
from contextlib import suppress


class Cable:
    """Forwards to `address`; `cut` breaks what is open, `pull` also refuses what comes, `plug` mends it."""

    def __init__(self, address: str) -> None:
        host, port = address.removeprefix("http://").split(":")
        self._target = (host, int(port))
        self._listener = socket.create_server(("127.0.0.1", 0))
        self._open: set[socket.socket] = set()
        self._pulled = False
        self.address = f"http://127.0.0.1:{self._listener.getsockname()[1]}"
        threading.Thread(target=self._accept, daemon=True).start()

    def cut(self) -> None:
        for one in list(self._open):
            with suppress(OSError):
                one.shutdown(socket.SHUT_RDWR)
            one.close()
        self._open.clear()

    def pull(self) -> None:
        self._pulled = True
        self.cut()

    def plug(self) -> None:
        self._pulled = False

    def close(self) -> None:
        self._listener.close()
        self.pull()

    def _accept(self) -> None:
        with suppress(OSError):
            while True:
                here, _ = self._listener.accept()
                self._connect(here)

    def _connect(self, here: socket.socket) -> None:
        if self._pulled:
            return here.close()
        try:
            there = socket.create_connection(self._target)
        except OSError:  # the house is down
            return here.close()
        self._open |= {here, there}
        for one, other in ((here, there), (there, here)):
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

"""Forwards connections from the cell's loopback to its gateway, because ordinary programs cannot use its unix socket.

One thread serves all of them. It is not part of the wall: a skill that stops it only cuts itself off from the network.
"""

import _socket
import _thread
import select

_GATEWAY = "/run/gateway/socket"
_CHUNK = 64 * 1024
# Each takes two of the cell's descriptors; further connections wait in the backlog.
_MAX_PAIRS = 24
_STACK_BYTES = 256 * 1024


def start(port):
    """Starts the forwarder; it is listening when this returns."""
    listener = _socket.socket(_socket.AF_INET, _socket.SOCK_STREAM)
    listener.setsockopt(_socket.SOL_SOCKET, _socket.SO_REUSEADDR, 1)
    listener.bind(("127.0.0.1", port))
    listener.listen(64)
    listener.setblocking(False)
    # The usual stack size would count towards the skill's memory limit.
    usual = _thread.stack_size(_STACK_BYTES)
    _thread.start_new_thread(_Forwarder(listener).run, ())
    _thread.stack_size(usual)


class _Forwarder:
    def __init__(self, listener):
        self._listener = listener
        self._poll = select.poll()
        self._pairs = {}
        self._watched = {}
        self._watch(listener, select.POLLIN)

    def run(self):
        while True:
            for number, _ in self._poll.poll():
                if number == self._listener.fileno():
                    self._accept()
                elif number in self._pairs:
                    self._advance(self._pairs[number])

    def _accept(self):
        number, _ = self._listener._accept()
        client = _socket.socket(_socket.AF_INET, _socket.SOCK_STREAM, 0, number)
        gateway = _socket.socket(_socket.AF_UNIX, _socket.SOCK_STREAM)
        try:
            gateway.connect(_GATEWAY)
        except OSError:
            client.close()
            gateway.close()
            return
        client.setsockopt(_socket.IPPROTO_TCP, _socket.TCP_NODELAY, 1)
        client.setblocking(False)
        gateway.setblocking(False)
        pair = (_Direction(client, gateway), _Direction(gateway, client))
        self._pairs[client.fileno()] = self._pairs[gateway.fileno()] = pair
        self._advance(pair)
        self._watch_listener()

    def _advance(self, pair):
        there, back = pair
        try:
            there.move()
            back.move()
            is_over = there.is_over and back.is_over
        except OSError:
            is_over = True
        for direction, other in ((there, back), (back, there)):
            if is_over:
                self._close(direction.source)
            else:
                wanted = (select.POLLIN if direction.wants_input else 0) | (select.POLLOUT if other.waiting else 0)
                self._watch(direction.source, wanted)
        if is_over:
            self._watch_listener()

    def _watch_listener(self):
        self._watch(self._listener, select.POLLIN if len(self._pairs) < 2 * _MAX_PAIRS else 0)

    def _watch(self, sock, wanted):
        number = sock.fileno()
        if self._watched.get(number, 0) == wanted:
            return
        self._watched[number] = wanted
        if wanted:
            self._poll.register(number, wanted)
        else:
            # An empty mask would still report a hang-up, again and again.
            self._poll.unregister(number)

    def _close(self, sock):
        self._watch(sock, 0)
        # A connection that ends at once was never watched.
        self._watched.pop(sock.fileno(), None)
        del self._pairs[sock.fileno()]
        sock.close()


class _Direction:
    """Moves bytes from one socket to the other; reads no more before the last ones are sent."""

    def __init__(self, source, target):
        self.source = source
        self.target = target
        self.waiting = b""
        self.is_over = False

    @property
    def wants_input(self):
        return not self.waiting and not self.is_over

    def move(self):
        try:
            if self.wants_input:
                self.waiting = self.source.recv(_CHUNK)
                if not self.waiting:
                    self.is_over = True
                    self.target.shutdown(_socket.SHUT_WR)
            if self.waiting:
                self.waiting = self.waiting[self.target.send(self.waiting) :]
        except BlockingIOError:
            pass

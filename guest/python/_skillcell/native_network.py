"""Lets code without proxy support reach declared hosts by name: a connection becomes a tunnel through the gateway.

Names are not resolved here, because only the gateway does that. Its refusals are raised as denials, even where a library
would take the gateway's answer for a server's.
"""

import _socket
import errno
import socket

from . import denials, forwarder

_HOST = "127.0.0.1"
_MAX_REPLY = 16 * 1024
# Seconds to open a tunnel on a non-blocking socket.
_TUNNEL_TIMEOUT = 30
_connect = _socket.socket.connect
_ERRORS = {
    "connrefused": (ConnectionRefusedError, errno.ECONNREFUSED),
    "connreset": (ConnectionResetError, errno.ECONNRESET),
    "hostunreach": (OSError, errno.EHOSTUNREACH),
    "netunreach": (OSError, errno.ENETUNREACH),
    "dns": (socket.gaierror, socket.EAI_NONAME),
    "timedout": (TimeoutError, errno.ETIMEDOUT),
}


def install(port):
    forwarder.start(port)
    proxy = (_HOST, port)

    def connect(self, address):
        if not _needs_tunnel(self, address) or tuple(address[:2]) == proxy:
            return _connect(self, address)
        wait = self.gettimeout()
        self.settimeout(_TUNNEL_TIMEOUT if wait == 0 else wait)
        try:
            _connect(self, proxy)
            _open_tunnel(self, address[0], address[1])
        finally:
            self.settimeout(wait)

    def connect_ex(self, address):
        try:
            self.connect(address)
        except OSError as error:
            return error.errno or errno.EIO
        return 0

    read = socket.SocketIO.readinto

    def readinto(self, buffer):
        count = read(self, buffer)
        if count and buffer[:12] == b"HTTP/1.1 403":
            _raise_denial(bytes(buffer[:count]))
        return count

    # Patches the classes themselves, because modules such as ssl already hold references to them.
    socket.SocketIO.readinto = readinto
    socket.socket.connect = connect
    socket.socket.connect_ex = connect_ex
    socket.getaddrinfo = getaddrinfo


def getaddrinfo(host, port, family=0, type=0, proto=0, flags=0):
    if isinstance(host, bytes):
        host = host.decode("ascii")
    if isinstance(port, (str, bytes)):
        port = {"http": 80, "https": 443}.get(port) or int(port)
    kind = type or socket.SOCK_STREAM
    return [(socket.AF_INET, kind, proto or socket.IPPROTO_TCP, "", (host or "localhost", port or 0))]


def _needs_tunnel(sock, address):
    return sock.family == socket.AF_INET and sock.type == socket.SOCK_STREAM and isinstance(address, tuple)


def _open_tunnel(sock, host, port):
    name = "[%s]" % host if ":" in host else host
    authority = ("%s:%d" % (name, port)).encode("idna" if not name.isascii() else "ascii")
    sock.sendall(b"CONNECT %s HTTP/1.1\r\nHost: %s\r\n\r\n" % (authority, authority))
    head = _read_head(sock)
    if head.startswith(b"HTTP/1.1 200"):
        return
    _raise_denial(head)
    kind, number = _ERRORS.get(_headers(head).get("skillcell-code"), (OSError, errno.EIO))
    raise kind(number, "the gateway could not connect to %s:%d" % (name, port))


def _raise_denial(answer):
    """Raises if the gateway denied the request. Servers cannot fake it, because the gateway strips such headers."""
    headers = _headers(answer)
    if headers.get("skillcell-code") == "denied":
        # Not reported to the host: the gateway has already recorded it.
        raise denials.NetworkDenied({key: headers.get("skillcell-" + key, "") for key in ("capability", "asked", "declared")})


def _headers(answer):
    lines = answer.partition(b"\r\n\r\n")[0].decode("latin-1").split("\r\n")[1:]
    return {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines)}


def _read_head(sock):
    """Reads up to the empty line and not a byte further, because the rest belongs to the server."""
    head = b""
    while not head.endswith(b"\r\n\r\n"):
        seen = sock.recv(4096, socket.MSG_PEEK)
        if not seen or len(head) > _MAX_REPLY:
            raise ConnectionError(errno.ECONNABORTED, "the gateway closed the connection")
        whole = head + seen
        end = whole.find(b"\r\n\r\n", max(0, len(head) - 3))
        head += sock.recv(len(seen) if end < 0 else end + 4 - len(head))
    return head

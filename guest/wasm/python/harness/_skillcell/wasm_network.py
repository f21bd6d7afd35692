"""HTTP for a cell that has no network: a socket that passes its request to the broker and reads the response.

Libraries that speak HTTP/1.1 over sockets (http.client, urllib, urllib3, requests) work unchanged. The broker
checks every request, follows no redirects, and does TLS itself.
"""

import errno
import io
import socket

from . import denials, protocol

_socket_class = socket.socket
_MOST_HEAD = 128 * 1024
_READ_BYTES = 256 * 1024
# Headers of the connection between the broker and the server.
_NOT_SENT = frozenset(
    "host connection keep-alive transfer-encoding content-length upgrade http2-settings te trailer expect "
    "proxy-authenticate proxy-authorization proxy-connection".split()
)
_NOT_PASSED_ON = frozenset(("connection", "keep-alive", "transfer-encoding", "content-length"))
_ERRORS = {
    "connrefused": (ConnectionRefusedError, errno.ECONNREFUSED, "the server refused the connection"),
    "dns": (socket.gaierror, socket.EAI_NONAME, "the name cannot be resolved"),
    "timedout": (TimeoutError, errno.ETIMEDOUT, "the server did not answer in time"),
    "tls": (ConnectionError, errno.ECONNABORTED, "the server's certificate is not valid"),
    # Not EFBIG, which means that a file exceeded the scratch space.
    "toobig": (OSError, errno.EMSGSIZE, "the response is too large"),
    "inval": (OSError, errno.EINVAL, "the broker does not make this kind of request"),
}


def install():
    socket.socket = socket.SocketType = BrokerSocket
    socket.getaddrinfo = getaddrinfo


def getaddrinfo(host, port, family=0, type=0, proto=0, flags=0):
    """Names stay names: only the broker resolves them."""
    if isinstance(host, bytes):
        host = host.decode("ascii")
    if isinstance(port, str):
        port = {"http": 80, "https": 443}.get(port) or int(port)
    return [(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP, "", (host or "localhost", port or 0))]


class BrokerSocket(_socket_class):
    """Collects what is sent; the first read makes the request."""

    def __init__(self, family=-1, type=-1, proto=-1, fileno=None):
        super().__init__(family, type, proto, fileno)
        self._peer = None
        self._is_secure = False
        self._sent = bytearray()
        self._response = None
        self._wait = None

    def connect(self, address):
        if self.family not in (socket.AF_INET, socket.AF_INET6) or self.type != socket.SOCK_STREAM:
            return super().connect(address)
        self._peer = address[0], int(address[1])

    def connect_ex(self, address):
        self.connect(address)
        return 0

    def secure(self):
        """Stands in for TLS on a socket; the broker does the real TLS."""
        self._is_secure = True
        return self

    def send(self, data, flags=0):
        if self._peer is None:
            return super().send(data, flags)
        if self._response is not None:
            # A connection that is kept open for the next request.
            self._response, self._sent = None, bytearray()
        self._sent += data
        return len(data)

    def sendall(self, data, flags=0):
        self.send(data, flags)

    def sendmsg(self, buffers, *rest):
        return sum(self.send(buffer) for buffer in buffers)

    def recv(self, size, flags=0):
        if self._peer is None:
            return super().recv(size, flags)
        self._response = self._response or _Response(self)
        return self._response.read(size)

    def recv_into(self, buffer, size=0, flags=0):
        view = memoryview(buffer).cast("B")
        data = self.recv(size or len(view))
        view[: len(data)] = data
        return len(data)

    def getpeername(self):
        return self._peer or super().getpeername()

    def getsockname(self):
        return ("127.0.0.1", 0) if self._peer else super().getsockname()

    def settimeout(self, value):
        self._wait = value

    def gettimeout(self):
        return self._wait

    def setblocking(self, flag):
        self._wait = None if flag else 0.0

    def setsockopt(self, *options):
        pass

    def getsockopt(self, *options):
        return 0

    def shutdown(self, how):
        pass

    def _real_close(self):
        # Not close(): readers of this socket may outlive it.
        if self._response is not None:
            self._response.close()
        super()._real_close()

    # Attributes that code reads from a TLS socket.

    def getpeercert(self, binary_form=False):
        """Only the name: the broker makes no request to a server that cannot prove it."""
        host = self._peer[0]
        kind = "IP Address" if ":" in host or host.replace(".", "").isdigit() else "DNS"
        return b"" if binary_form else {"subjectAltName": ((kind, host),)}

    def version(self):
        return "TLSv1.3" if self._is_secure else None

    def cipher(self):
        return None

    def selected_alpn_protocol(self):
        return None

    def do_handshake(self, block=False):
        pass

    def unwrap(self):
        return self


class _Response:
    """The broker's answer as the bytes that a server would have sent."""

    def __init__(self, sock):
        host, port = sock._peer
        request = _read_request(bytes(sock._sent))
        if request is None:
            asked = "connect %s:%d" % (host, port)
            raise denials.NetworkDenied(denials.Reporter().report("network", asked, "only http is let through"))
        method, path, headers, body = request
        scheme = "https" if sock._is_secure else "http"
        authority = _authority(host, port, 443 if sock._is_secure else 80)
        self._shown = "%s %s://%s%s" % (method, scheme, authority, path.partition("?")[0])
        request = {"method": method, "scheme": scheme, "authority": authority, "path": path, "headers": headers}
        value, _ = self._ask("http", request, body)
        self._body = value["body"]
        self._ready = _head(value)

    def read(self, size):
        while not self._ready and self._body is not None:
            _, data = self._ask("httpRead", {"body": self._body, "length": _READ_BYTES})
            if not data:
                self.close()
            self._ready = data
        data, self._ready = self._ready[:size], self._ready[size:]
        return data

    def close(self):
        if self._body is not None:
            body, self._body = self._body, None
            protocol.ask("httpClose", {"body": body})

    def _ask(self, op, args, payload=b""):
        answer, data = protocol.ask(op, args, payload)
        code = answer.get("code")
        if code is None:
            return answer["value"], data
        if code == "denied":
            declared = "no rule of the grant covers it"
            raise denials.NetworkDenied({"capability": "network", "asked": self._shown, "declared": declared})
        kind, number, text = _ERRORS.get(code, (ConnectionError, errno.EIO, "the request failed"))
        raise kind(number, "%s: %s" % (text, self._shown))


def _authority(host, port, usual):
    name = "[%s]" % host if ":" in host else host.lower()
    return name if port == usual else "%s:%d" % (name, port)


def _read_request(sent):
    """Method, path, headers and body; None if it is not HTTP."""
    head, found, rest = sent.partition(b"\r\n\r\n")
    if not found or len(head) > _MOST_HEAD:
        return None
    first, *lines = head.decode("latin-1").split("\r\n")
    parts = first.split(" ")
    if len(parts) != 3 or not parts[2].startswith("HTTP/1"):
        return None
    pairs = [(name.strip(), value.strip()) for name, _, value in (line.partition(":") for line in lines)]
    chunked = any(name.lower() == "transfer-encoding" and "chunked" in value.lower() for name, value in pairs)
    headers = [[name, value] for name, value in pairs if name.lower() not in _NOT_SENT]
    return parts[0], parts[1], headers, _unchunked(rest) if chunked else rest


def _unchunked(data):
    source, whole = io.BytesIO(data), []
    while size := int(source.readline().split(b";")[0].strip() or b"0", 16):
        whole.append(source.read(size))
        source.readline()
    return b"".join(whole)


def _head(value):
    """Without a length: the body ends with the connection."""
    lines = ["HTTP/1.1 %d %s" % (value["status"], "Answer"), "Connection: close"]
    lines += ["%s: %s" % (name, text) for name, text in value["headers"] if name.lower() not in _NOT_PASSED_ON]
    return ("\r\n".join(lines) + "\r\n\r\n").encode("latin-1", "replace")

"""Servers on loopback: one that is partly granted, one that is not, and one that must never see the key.

As a program: started with one JSON line on stdin, answers with its ports, then a line for each request that should not have
arrived. Only pages that no rule covers reveal the secret.
"""
import base64, http.server, json, struct, sys, threading, time, urllib.parse, zlib

BOMB_BYTES = 200 << 20
OVERRIDES = {"x-http-method-override", "x-http-method", "x-method-override", "x-original-url", "x-rewrite-url", "x-forwarded-uri"}


class Servers:
    def __init__(self, place, report):
        self.place, self.report = place, report
        wanted = place.get("ports", {})
        self.web = self.start("127.0.0.1", wanted.get("web", 0), Web)
        port = self.web.server_address[1]
        self.stranger = self.start("127.0.0.2", port, Stranger)
        self.forbidden = self.start("127.0.0.1", wanted.get("forbidden", 0), Forbidden)
        self.start("127.0.0.3", self.forbidden.server_address[1], Forbidden)
        self.ports = {"web": port, "forbidden": self.forbidden.server_address[1]}

    def start(self, host, port, handler):
        server = Server((host, port), type("Bound", (handler,), {"servers": self}))
        threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True).start()
        return server


class Server(http.server.ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, *_):
        """Skills disconnect in the middle."""


def packed_zeros(mebibytes):
    """A gzip file that repeats one compressed block: compressing all of it would take too long."""
    zeros = bytes(1 << 20)
    packer = zlib.compressobj(6, zlib.DEFLATED, -15)
    block = packer.compress(zeros) + packer.flush(zlib.Z_FULL_FLUSH)
    check = 0
    for _ in range(mebibytes):
        check = zlib.crc32(zeros, check)
    end = struct.pack("<II", check, mebibytes << 20)
    return b"\x1f\x8b\x08" + bytes(7) + block * mebibytes + b"\x03\x00" + end


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def handle_one_request(self):
        try:
            super().handle_one_request()
        except (ConnectionError, ValueError):
            self.close_connection = True

    def answer(self, body, status=200, headers={}):
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def give_away(self, why):
        self.servers.report("%s: %s" % (why, self.requestline[:120]))
        self.answer(self.servers.place["secret"].encode())

    def body(self):
        if "chunked" in (self.headers["Transfer-Encoding"] or ""):
            whole = b""
            while size := int(self.rfile.readline().split(b";")[0] or b"0", 16):
                whole += self.rfile.read(size)
                self.rfile.readline()
            self.rfile.readline()
            return whole
        return self.rfile.read(int(self.headers["Content-Length"] or 0))

    def log_message(self, *_):
        pass

    def guess(self):
        """True if the request belongs to an oracle: a guess and a pause, or what was learned from them."""
        kind, _, text = self.path.rpartition("/")
        if kind.endswith("/learned"):
            if self.servers.place["value"].startswith(text):
                self.servers.report("a letter of the key was learned: %s" % text)
            self.answer(b"heard")
            return True
        if not kind.endswith("/guess"):
            return False
        self.send_response(200)
        self.send_header("Connection", "close")
        self.end_headers()
        self.wfile.write(b"#7:" + text.encode())
        self.wfile.flush()
        time.sleep(0.25)
        self.wfile.write(b">")
        self.close_connection = True
        return True


class Forbidden(Handler):
    def do_GET(self):
        self.give_away("reached a server that no rule covers")

    do_POST = do_PUT = do_HEAD = do_DELETE = do_OPTIONS = do_GET


class Stranger(Handler):
    """Granted, but the key is not for it."""

    def do_GET(self):
        if self.guess():
            return
        seen = (self.requestline + str(self.headers)).encode() + self.body()
        value = self.servers.place["value"].encode()
        forms = (value, urllib.parse.quote(value).encode(), base64.b64encode(value)[:-4], base64.b64encode(b"xy" + value)[4:-4], value.hex().encode())
        unescaped = urllib.parse.unquote_to_bytes(seen.replace(b"\\u00", b"%"))
        half = value[len(value) // 2 :]
        if any(form in text for form in forms for text in (seen, unescaped)) or half in seen:
            self.give_away("saw the key")
        else:
            self.answer(b"harmless")

    do_POST = do_GET


class Web(Handler):
    def hostile(self):
        allowed = {"127.0.0.1:%d" % self.servers.ports["web"]}
        if set(self.headers.get_all("Host") or []) - allowed or len(self.headers.get_all("Host") or []) > 1:
            return "got another Host"
        if self.headers["X-Injected"]:
            return "got an injected header"
        if OVERRIDES & {name.lower().replace("_", "-") for name in self.headers} or "_method=" in self.path:
            return "was turned into another request"
        return self.headers["Upgrade"] and "was asked for another protocol"

    def do_POST(self):
        body = self.body()
        if self.hostile() or not self.path.startswith("/post/"):
            self.give_away(self.hostile() or "was asked with another method")
        else:
            self.answer(b"%d" % len(body))

    def do_PUT(self):
        self.give_away("was asked with another method")

    do_DELETE = do_HEAD = do_OPTIONS = do_PUT

    def do_GET(self):
        self.body()
        if why := self.hostile():
            return self.give_away(why)
        if self.path.startswith("/open/") and self.guess():
            return
        page = getattr(self, "page_" + self.path.removeprefix("/open/").partition("?")[0], None)
        if page and self.path.startswith("/open/") and "%" not in self.path:
            page()
        else:
            self.give_away("was asked for another path")

    def page_harmless(self):
        self.answer(b"harmless")

    def page_bad_reason(self):
        self.raw(b"HTTP/1.1 200 \x01\r\nContent-Length: 0\r\n\r\n")

    def page_bad_status(self):
        self.raw(b"HTTP/1.1 000 Zero\r\nContent-Length: 0\r\n\r\n")

    def page_interim_flood(self):
        self.raw(b"HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n" * 1000)

    def raw(self, answer):
        self.wfile.write(answer)
        self.close_connection = True

    def page_redirect(self):
        self.answer(b"", 302, {"Location": "http://127.0.0.1:%d/" % self.servers.ports["forbidden"]})

    def page_redirect_path(self):
        self.answer(b"", 307, {"Location": "/closed/secret"})

    def page_redirect_chain(self):
        self.answer(b"", 301, {"Location": "/open/redirect"})

    def page_redirect_host(self):
        self.answer(b"", 302, {"Location": "http://127.0.0.1:%d@127.0.0.1:%d/" % tuple(self.servers.ports.values())})

    def page_silent(self):
        time.sleep(12)

    def page_large(self):
        self.stream(1, 4 << 20)

    def page_mebibyte(self):
        self.answer(b"a" * (1 << 20))

    def page_endless(self):
        """Sends as long as someone reads, up to a bound: the cap must come before it."""
        self.stream(32, 1 << 20)

    def stream(self, count, size):
        self.send_response(200)
        self.send_header("Connection", "close")
        self.end_headers()
        for _ in range(count):
            self.wfile.write(b"a" * size)

    def page_bomb(self):
        self.answer(packed_zeros(BOMB_BYTES >> 20), headers={"Content-Encoding": "gzip"})

    def page_echo(self):
        """Returns what it received, in many encodings and in small pieces."""
        said = (self.headers["Authorization"] or "").encode()
        forms = (said, base64.b64encode(said), said.hex().encode(), "".join("%%%02x" % byte for byte in said).encode(), json.dumps(said.decode()).encode())
        body = b" ".join(forms)
        self.send_response(200, "OK " + said.decode())
        self.send_header("X-Echo", said.decode())
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        for at in range(0, len(body), 7):
            self.wfile.write(body[at : at + 7])
            self.wfile.flush()


def main():
    lock = threading.Lock()

    def report(line):
        with lock:
            print(json.dumps(line), flush=True)

    servers = Servers(json.loads(sys.stdin.readline()), report)
    report(servers.ports)
    for line in sys.stdin:
        # The answer shows that all reports so far have been sent.
        report({"heard": line.strip()})


if __name__ == "__main__":
    main()

"""A web server on the host's loopback: part of it is granted to the skill, part of it is not.

Started with one JSON line on stdin: the secret, the port of the neighbour, optionally its own port. Answers with its
port. Only pages that no rule of the attack covers reveal the secret.
"""
import http.server, json, sys, threading, time

place = json.loads(sys.stdin.readline())


class Handler(http.server.BaseHTTPRequestHandler):
    # Connections stay open: a request after the first one is answered.
    protocol_version = "HTTP/1.1"

    def do_GET(self):
        page = self.path.removeprefix("/open/")
        if page == "redirect":
            self.answer(b"", 302, {"Location": f"http://127.0.0.1:{place['forbidden']}/"})
        elif page == "huge":
            self.stream(64 << 20)
        elif page == "huger":
            self.stream(96 << 20)
        elif page == "slow":
            self.stream(64, pause=0.5)
        elif page == "headers":
            hostile = self.headers["X-Injected"] or self.headers["Transfer-Encoding"] or "internal" in (self.headers["Host"] or "")
            self.answer(place["secret"].encode() if hostile else b"harmless")
        else:
            self.answer(b"harmless" if self.path == "/open/harmless" else place["secret"].encode())

    def do_POST(self):
        self.answer(place["secret"].encode())

    def answer(self, body, status=200, headers={}):
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def stream(self, size, pause=0.0):
        self.send_response(200)
        self.send_header("Connection", "close")
        self.end_headers()
        step = 1 if pause else 1 << 20
        for _ in range(0, size, step):
            self.wfile.write(b"a" * step)
            time.sleep(pause)

    def log_message(self, *_):
        pass


class Server(http.server.ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, *_):
        """Skills disconnect in the middle."""


server = Server(("127.0.0.1", place.get("port", 0)), Handler)
threading.Thread(target=server.serve_forever, daemon=True).start()
print(json.dumps({"port": server.server_address[1]}), flush=True)
sys.stdin.readline()

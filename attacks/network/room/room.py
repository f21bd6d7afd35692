"""The control room of the network: the same servers in a separate network namespace, and a client or a proxy that checks
nothing or the wrong thing. Reads one JSON line, answers with one: {"works": bool, "evidence": str}.
"""
import fcntl, json, os, socket, struct, sys, threading

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import naive_proxy
from servers import Servers

TLS_HANDSHAKE = 0x16


def raise_loopback():
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sock:
        fcntl.ioctl(sock, 0x8914, struct.pack("16sH14s", b"lo", 1, b""))


def overhear(port, seen):
    """Stands in for a TLS server: only the name in the first bytes counts here."""
    listener = socket.create_server(("127.0.0.1", port))

    def serve():
        while True:
            peer, _ = listener.accept()
            hello = peer.recv(4096)
            seen.append("TLS that names evil.test" if b"evil.test" in hello else "bytes without TLS" if hello[0] != TLS_HANDSHAKE else "")
            peer.close()

    threading.Thread(target=serve, daemon=True).start()


def resolve_names():
    """The resolver of a careless host: every name of a test resolves to loopback."""
    plain = socket.getaddrinfo

    def getaddrinfo(host, *rest, **more):
        name = host.decode() if isinstance(host, bytes) else host
        return plain("127.0.0.1" if name and name.rstrip(".").lower().endswith((".test", "localhost")) else host, *rest, **more)

    socket.getaddrinfo = getaddrinfo


def main():
    order = json.loads(sys.stdin.readline())
    raise_loopback()
    harm = []
    servers = Servers(order, harm.append)
    overhear(order["ports"]["tls"], harm)
    naive_proxy.start(3128, "127.0.0.1:%d" % servers.ports["web"], lambda name: name, order["value"].encode())
    resolve_names()
    os.environ["API_KEY"] = order["value"]
    if order["through"] == "proxy":
        os.environ["http_proxy"] = "http://127.0.0.1:3128"
    sys.path.insert(0, order["skill"])
    outcome = {}
    worker = threading.Thread(target=run, args=(order["params"], outcome), daemon=True)
    worker.start()
    worker.join(order["seconds"])
    signs = [sign for sign in harm if sign]
    works = bool(outcome.get("succeeded") or signs)
    print(json.dumps({"works": works, "evidence": str(signs or outcome or "no end")[:300]}), flush=True)
    os._exit(0)


def run(params, outcome):
    import skill

    try:
        outcome.update(skill.execute(params))
    except Exception as error:
        outcome["error"] = repr(error)


main()

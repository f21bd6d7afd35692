"""A careless proxy: compares strings instead of their meaning, copies bytes, and waits forever."""
import socket, threading, urllib.parse


def start(port, granted, lookup, value=b""):
    listener = socket.create_server(("127.0.0.1", port))

    def serve():
        while True:
            client, _ = listener.accept()
            threading.Thread(target=handle, args=(client, granted, lookup, value), daemon=True).start()

    threading.Thread(target=serve, daemon=True).start()


def handle(client, granted, lookup, value):
    try:
        head = b""
        while b"\r\n\r\n" not in head:
            if not (chunk := client.recv(65536)):
                return
            head += chunk
        pass_on(client, head, granted, lookup, value)
    except OSError:
        pass
    finally:
        client.close()


def pass_on(client, head, granted, lookup, value):
    method, target, _ = head.split(b"\r\n", 1)[0].decode("latin-1").split(" ", 2)
    # Trusts either the start of the line or the header.
    if granted not in head.decode("latin-1"):
        return client.sendall(b"HTTP/1.1 403 Forbidden\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
    if method == "CONNECT":
        host, _, port = target.rpartition(":")
        server = socket.create_connection((lookup(host), int(port)), timeout=6)
        client.sendall(b"HTTP/1.1 200 OK\r\n\r\n")
        server.sendall(head.partition(b"\r\n\r\n")[2])
    else:
        url = urllib.parse.urlsplit(target)
        server = socket.create_connection((lookup(url.hostname), url.port or 80), timeout=6)
        path = url.path + ("?" + url.query if url.query else "")
        server.sendall(head.replace(target.encode("latin-1"), path.encode("latin-1") or b"/", 1))
    threading.Thread(target=copy, args=(client, server), daemon=True).start()
    copy(server, client, value)


def begun(data, value):
    """The number of bytes at the end that may be the start of the value: they are held back, so that it can be redacted."""
    return next((size for size in range(min(len(data), len(value) - 1), 0, -1) if value.startswith(data[-size:])), 0)


def copy(source, sink, value=b""):
    held = b""
    try:
        while chunk := source.recv(65536):
            data = held + chunk
            if value:
                data = data.replace(value, b"*" * len(value))
            size = begun(data, value)
            held = data[len(data) - size :]
            sink.sendall(data[: len(data) - size])
        sink.sendall(held)
    except OSError:
        pass
    finally:
        for end in (source, sink):
            try:
                end.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass

"""A neighbour of the skill on the host: everything a hostile skill might target. It reports what touched it.

Started with one JSON line on stdin; answers with one JSON line (its addresses), then one line per touch.
It ends, and takes everything with it, when stdin closes.
"""
import ctypes, json, os, select, socket, sys

libc = ctypes.CDLL(None, use_errno=True)
libc.shmat.restype = ctypes.c_void_p
libc.shmat.argtypes = [ctypes.c_int, ctypes.c_void_p, ctypes.c_int]
IPC_CREAT, IPC_RMID = 0o1000, 0


def stream(family, address):
    sock = socket.socket(family, socket.SOCK_STREAM)
    sock.bind(address)
    sock.listen(16)
    return sock


def open_sockets(place):
    if os.path.exists(place["unix_socket"]):
        os.unlink(place["unix_socket"])
    tcp = stream(socket.AF_INET, ("127.0.0.1", place.get("tcp_port", 0)))
    udp = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    udp.bind(("127.0.0.1", tcp.getsockname()[1]))
    unix = stream(socket.AF_UNIX, place["unix_socket"])
    os.chmod(place["unix_socket"], 0o777)
    abstract = stream(socket.AF_UNIX, "\0" + place["token"])
    beside = stream(socket.AF_UNIX, place["workspace"] + "/neighbour.sock")
    mailbox = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
    mailbox.bind(place["workspace"] + "/neighbour.dgram")
    for name in ("sock", "dgram"):
        os.chmod(place["workspace"] + "/neighbour." + name, 0o777)
    return {"tcp": tcp, "udp": udp, "unix": unix, "abstract": abstract, "workspace": beside, "mailbox": mailbox}


def open_shared_memory(place, secret):
    with open("/dev/shm/" + place["token"], "wb") as file:
        file.write(secret)
    os.chmod("/dev/shm/" + place["token"], 0o644)
    segment = libc.shmget(place["ipc_key"], 4096, IPC_CREAT | 0o666)
    ctypes.memmove(libc.shmat(segment, None, 0), secret, len(secret))
    queue = libc.msgget(place["ipc_key"], IPC_CREAT | 0o666)
    return segment, queue


def close_shared_memory(place, segment, queue):
    os.unlink("/dev/shm/" + place["token"])
    libc.shmctl(segment, IPC_RMID, None)
    libc.msgctl(queue, IPC_RMID, None)


def answer(kind, sock, secret):
    if kind == "mailbox":
        sock.recv(64)
    elif kind == "udp":
        _, peer = sock.recvfrom(64)
        sock.sendto(secret, peer)
    else:
        peer, _ = sock.accept()
        if select.select([peer], [], [], 0.05)[0]:
            peer.recv(4096)
        peer.sendall(b"HTTP/1.0 200 OK\r\n\r\n" + secret)
        peer.close()


def serve(sockets, secret):
    kinds = {sock: kind for kind, sock in sockets.items()}
    while True:
        open("/usr/bin/env", "rb").close()  # visible to a spy on shared folders
        ready, _, _ = select.select([sys.stdin, *kinds], [], [], 0.2)
        if sys.stdin in ready:
            return
        for sock in ready:
            print(kinds[sock], flush=True)
            try:
                answer(kinds[sock], sock, secret)
            except OSError:
                pass


def main():
    place = json.loads(sys.stdin.readline())
    secret = place["secret"].encode()
    held = os.open(place["secret_file"], os.O_RDONLY)
    sockets = open_sockets(place)
    segment, queue = open_shared_memory(place, secret)
    try:
        port = sockets["tcp"].getsockname()[1]
        print(json.dumps({"pid": os.getpid(), "tcp_port": port, "held_fd": held}), flush=True)
        serve(sockets, secret)
    finally:
        close_shared_memory(place, segment, queue)


main()

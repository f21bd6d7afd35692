"""Sends a frame "loaded" of twelve megabytes, full of keys that a reader would have to compare."""

import os


def send(body):
    data = memoryview(len(body).to_bytes(4, "little") + body)
    while data:
        data = data[os.write(3, data) :]


def execute(params):
    keys = b",".join(b'"%x":1e1' % n for n in range(1_000_000))
    send(b'{"t":"loaded","capability":"env","asked":"forged","declared":"",' + keys[: 12 << 20].rpartition(b",")[0] + b"}")
    os._exit(0)

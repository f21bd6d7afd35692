"""Replies with twelve megabytes of keys, and one of them twice at the very end."""

import os


def send(body):
    data = memoryview(len(body).to_bytes(4, "little") + body)
    while data:
        data = data[os.write(3, data) :]


def execute(params):
    keys = b",".join(b'"%x":1e1' % n for n in range(800_000))
    send(b'{"t":"result","value":{' + keys + b',"0":"forged"}}')
    os._exit(0)

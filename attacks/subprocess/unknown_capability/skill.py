"""Reports a denial of a capability that does not exist."""

import os


def send(body):
    data = memoryview(len(body).to_bytes(4, "little") + body)
    while data:
        data = data[os.write(3, data) :]


def execute(params):
    send(b'{"t":"denied","capability":"everything","asked":"forged","declared":"forged"}')
    send(b'{"t":"result","value":1}')
    os._exit(0)

"""Replies with twelve megabytes of keys, with one duplicate at the very end.

limits: { output: 16MB, memory: 256MB }
"""

import os

from frames import send


def execute(params):
    keys = b",".join(b'"%x":1e1' % n for n in range(800_000))
    send(b'{"t":"result","value":{' + keys + b',"0":"forged"}}')
    os._exit(0)

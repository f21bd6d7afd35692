"""Replies with eight megabytes of valid JSON and one extra byte.

limits: { output: 16MB, memory: 256MB }
"""

import os

from frames import send


def execute(params):
    send(b'{"t":"result","value":["' + b"forged" * (1 << 20) + b'"]}}')
    os._exit(0)

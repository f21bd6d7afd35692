"""Sends a frame of twelve megabytes with its type at the very end.

limits: { output: 16MB, memory: 256MB }
"""

import os

from frames import send


def execute(params):
    send(b'{"value":"' + b"forged" * (2 << 20) + b'","t":"result"}')
    os._exit(0)

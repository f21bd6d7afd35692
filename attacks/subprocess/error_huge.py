"""Replies with an error of twelve megabytes.

limits: { output: 16MB, memory: 256MB }
"""

import os

from frames import send


def execute(params):
    send(b'{"t":"error","type":"Forged","trace":"","message":"' + b"x" * (12 << 20) + b'"}')
    os._exit(0)

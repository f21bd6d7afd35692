"""Sends a "denied" frame of twelve megabytes, full of keys that a parser would have to compare.

limits: { output: 16MB, memory: 256MB }
"""

import os

from frames import send


def execute(params):
    keys = b",".join(b'"%x":1e1' % n for n in range(1_000_000))
    send(b'{"t":"denied","capability":"env","asked":"forged","declared":"",' + keys[: 12 << 20].rpartition(b",")[0] + b"}")
    os._exit(0)

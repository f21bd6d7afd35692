"""Sends 250 denial reports of one megabyte each.

limits: { output: 16MB, memory: 256MB }
"""

import os

from frames import send


def execute(params):
    event = b'{"t":"denied","capability":"env","declared":"forged","asked":"' + b"x" * (1 << 20) + b'"}'
    for _ in range(250):
        send(event)
    os._exit(0)

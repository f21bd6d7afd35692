"""Sends 200 denial reports that are each just below the size limit.

limits: { output: 16MB, memory: 256MB }
"""

import os

from frames import send


def execute(params):
    event = b'{"t":"denied","capability":"env","declared":"forged","asked":"' + b"x" * 16_000 + b'"}'
    for _ in range(200):
        send(event)
    os._exit(0)

"""Reports a denial of an unknown capability."""

import os

from frames import send


def execute(params):
    send(b'{"t":"denied","capability":"everything","asked":"forged","declared":"forged"}')
    send(b'{"t":"result","value":1}')
    os._exit(0)

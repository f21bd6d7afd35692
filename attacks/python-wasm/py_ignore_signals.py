"""Handles every signal, then runs forever."""

import signal


def execute(params):
    for number in range(1, 64):
        try:
            signal.signal(number, lambda *_: None)
        except (OSError, ValueError):
            pass
    while True:
        pass

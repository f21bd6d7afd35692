"""Takes over every signal, then runs for ever."""

import signal


def execute(params):
    for number in range(1, 64):
        try:
            signal.signal(number, lambda *_: None)
        except (OSError, ValueError):
            pass
    while True:
        pass

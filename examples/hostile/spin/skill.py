"""Burns CPU time forever."""

import time


def execute(params):
    end = time.monotonic() + 60
    while time.monotonic() < end:
        pass
    return {"succeeded": True, "evidence": "a minute of processor time"}

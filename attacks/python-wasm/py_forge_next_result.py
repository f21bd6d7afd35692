"""Makes the host take its output for the result of the next call."""

import os
import time

from frames import frame


def smuggle(call):
    """Announces bytes after a report; if they are not passed on, the frame around the next log line is taken for them."""
    answer = b'{"forged": true}'
    inner = frame({"t": "result", "call": call, "payload_bytes": len(answer)}, answer)
    swallowed = 4 + len('{"t":"log","payload_bytes":%d}' % len(inner))
    report = {"t": "denied", "capability": "env", "asked": "read A", "declared": "no", "payload_bytes": swallowed}
    os.write(3, frame(report, bytes(swallowed)))
    os.write(1, inner)


def execute(params):
    smuggle(1)
    # Until the host, satisfied with that, makes the next call.
    time.sleep(0.3)
    smuggle(2)
    time.sleep(0.1)
    return {"succeeded": False, "evidence": "the host compares"}

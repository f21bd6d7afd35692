"""Sends frames that only a cell or a host sends."""

from frames import frame, write


def execute(params):
    for kind in ("ready", "loaded", "failed", "log", "init", "call", "reply"):
        try:
            write(frame({"t": kind, "call": 1, "id": 0, "value": {"forged": True}}))
        except OSError:
            pass
    return {"succeeded": False, "evidence": "the host compares"}

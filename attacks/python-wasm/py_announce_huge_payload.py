"""Announces a result of a petabyte."""

from frames import frame, write


def execute(params):
    write(frame({"t": "result", "payload_bytes": 1 << 50}, b"1"))
    return {"succeeded": False, "evidence": "the host compares"}

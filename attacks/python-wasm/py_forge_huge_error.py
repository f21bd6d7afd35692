"""Forges an error of 200 kilobytes with fields that no error has."""

from frames import frame, write


def execute(params):
    write(frame({"t": "error", "type": "Forged", "message": "x" * 100_000, "trace": "y" * 100_000, "forged": [1] * 1000}))
    return {"succeeded": False, "evidence": "the host compares"}

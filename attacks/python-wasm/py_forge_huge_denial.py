"""Forges a denial report of 200 kilobytes."""

from frames import frame, write


def execute(params):
    write(frame({"t": "denied", "capability": "env", "asked": "x" * 200_000, "declared": "forged"}))
    return {"succeeded": False, "evidence": "the host compares"}

"""Forges a denial report about an unknown capability."""

from frames import frame, write


def execute(params):
    write(frame({"t": "denied", "capability": "everything", "asked": "forged", "declared": "forged"}))
    return {"succeeded": False, "evidence": "the host compares"}

"""Floods the host with forged denial reports."""

from frames import frame, write


def execute(params):
    for _ in range(2000):
        write(frame({"t": "denied", "capability": "network", "asked": "forged", "declared": "forged"}) * 10)
    return {"succeeded": False, "evidence": "the host compares"}

"""Frees a structure nested a million levels deep."""

def execute(params):
    nested = None
    for _ in range(1_000_000):
        nested = (nested,)
    del nested
    return {"succeeded": False, "evidence": "freed"}

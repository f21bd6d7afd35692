"""Prints a list nested 100,000 levels deep."""

def execute(params):
    nested = []
    for _ in range(100_000):
        nested = [nested]
    return {"succeeded": False, "evidence": len(repr(nested))}

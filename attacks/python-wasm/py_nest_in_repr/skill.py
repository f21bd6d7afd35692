"""Has the interpreter print a list of 100,000 levels."""

def execute(params):
    nested = []
    for _ in range(100_000):
        nested = [nested]
    return {"succeeded": False, "evidence": len(repr(nested))}

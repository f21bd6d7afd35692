"""Allocates more memory than the limit at once."""

def execute(params):
    return {"succeeded": len("x" * (600 << 20)) > 0, "evidence": "600 MiB"}

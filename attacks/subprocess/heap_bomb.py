"""Fills the heap far past the memory limit.

limits: { memory: 64MiB }
"""

def execute(params):
    held = [b"x" * (1 << 20) for _ in range(320)]
    return {"succeeded": True, "evidence": f"{len(held)} MiB"}

"""Fills the memory far past the limit.

limits: { memory: 64MiB }
"""

def execute(params):
    held = [b"x" * (1 << 20) for _ in range(120)]
    return {"succeeded": True, "evidence": "%d MiB" % len(held)}

"""Fills the memory when it is loaded.

limits: { memory: 64MiB }
"""

print("attack reached", flush=True)
HELD = [bytearray(1 << 20) for _ in range(120)]


def execute(params):
    return {"succeeded": True, "evidence": "%d MiB" % len(HELD)}

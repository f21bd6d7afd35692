"""Uses most of its memory, so that a later call is killed for it.

limits: { memory: 128MiB }
"""

def execute(params):
    held = b"x" * (100 << 20)
    return {"succeeded": False, "evidence": "held %d bytes" % len(held)}

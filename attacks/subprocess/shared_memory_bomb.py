"""Fills anonymous shared memory in many small pieces, which heap limits do not count.

limits: { memory: 64MiB }
"""

import mmap


def execute(params):
    held = []
    for _ in range(320):
        block = mmap.mmap(-1, 1 << 20)
        for offset in range(0, len(block), 4096):
            block[offset] = 1
        held.append(block)
    return {"succeeded": True, "evidence": f"{len(held)} MiB"}

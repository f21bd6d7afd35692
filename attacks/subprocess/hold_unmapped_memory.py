"""Fills shared memory and unmaps it, so that it belongs to no process.

limits: { memory: 64MiB }
"""

import mmap


def execute(params):
    held = []
    for _ in range(40):
        block = mmap.mmap(-1, 8 << 20)
        for offset in range(0, len(block), 4096):
            block[offset] = 1
        block.madvise(mmap.MADV_DONTNEED)
        held.append(block)
    kept = sum(block[0] for block in held)
    return {"succeeded": kept == 40, "evidence": f"{kept * 8} MiB"}

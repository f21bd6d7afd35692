"""Fills shared memory from the zero device.

limits: { memory: 64MiB }
"""

import mmap, os


def execute(params):
    zero = os.open("/dev/zero", os.O_RDWR)
    held = []
    for _ in range(40):
        block = mmap.mmap(zero, 8 << 20)
        for offset in range(0, len(block), 4096):
            block[offset] = 1
        held.append(block)
    return {"succeeded": True, "evidence": "320 MiB"}

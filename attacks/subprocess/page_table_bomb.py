"""Reads one byte in every 2 MiB of a huge empty mapping, so that only page tables are filled.

limits: { memory: 64MiB, cpu: 30s }
"""

import mmap


def execute(params):
    size, step = 80 << 30, 2 << 20
    space = mmap.mmap(-1, size, flags=mmap.MAP_PRIVATE | 0x4000, prot=mmap.PROT_READ)
    touched = sum(1 for offset in range(0, size, step) if space[offset] == 0)
    return {"succeeded": True, "evidence": f"{touched * 4096 >> 20} MiB of page tables"}

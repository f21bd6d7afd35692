"""Fills anonymous shared memory, which limits on the heap do not count."""

import mmap


def execute(params):
    held = mmap.mmap(-1, 320 << 20)
    for offset in range(0, len(held), 4096):
        held[offset] = 1
    return {"succeeded": True, "evidence": "320 MiB"}

"""Fills memory files, which belong to no process.

limits: { memory: 64MiB }
"""

import os


def execute(params):
    fd = os.memfd_create("bomb")
    for _ in range(224):
        os.write(fd, bytes(1 << 20))
    return {"succeeded": True, "evidence": "224 MiB"}

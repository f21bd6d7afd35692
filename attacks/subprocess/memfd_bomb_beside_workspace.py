"""Fills memory files while the file size limit is loose, because a workspace is granted.

capabilities:
  filesystem:
    - { path: '${workspace}', access: read-write }
limits: { memory: 64MiB }
"""

import os


def execute(params):
    fd = os.memfd_create("bomb")
    for _ in range(224):
        os.write(fd, bytes(1 << 20))
    return {"succeeded": True, "evidence": "224 MiB"}

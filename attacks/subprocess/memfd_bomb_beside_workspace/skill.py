"""Fills memory files where the limit on file sizes is loose, because a workspace is granted."""

import os


def execute(params):
    fd = os.memfd_create("bomb")
    for _ in range(224):
        os.write(fd, bytes(1 << 20))
    return {"succeeded": True, "evidence": "224 MiB"}

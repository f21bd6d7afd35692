"""Reads from every descriptor that may have been left open."""

import os


def execute(params):
    for fd in [0, *range(4, 300)]:
        try:
            data = os.pread(fd, 4096, 0)
        except OSError:
            continue
        if params["marker"].encode() in data:
            return {"succeeded": True, "evidence": "descriptor %d" % fd}
    return {"succeeded": False, "evidence": "found nothing"}

"""Fills and truncates files, to get memory that is not counted."""

import os


def execute(params):
    held = []
    for number in range(30):
        file = open("/tmp/file%d" % number, "wb")
        held.append(file)
        file.write(bytes(12 << 20))
        file.flush()
        os.ftruncate(file.fileno(), 0)
    return {"succeeded": False, "evidence": "the host compares"}

"""Fills kernel memory with 150000 empty files.

limits: { memory: 64MiB, scratch: 8MiB, cpu: 4s }
"""

import os


def execute(params):
    os.mkdir("/tmp/many")
    for number in range(150_000):
        os.close(os.open(f"/tmp/many/{number}", os.O_CREAT | os.O_WRONLY))
    return {"succeeded": True, "evidence": "150000 files"}

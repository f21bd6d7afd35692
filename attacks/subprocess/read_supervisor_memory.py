"""Searches the memory of pid 1 for secrets."""

import os


def execute(params):
    if os.getpid() == 1:
        return {"succeeded": False, "evidence": "pid 1 is the skill itself"}
    areas = [line.split()[0].split("-") for line in open("/proc/1/maps") if "[heap]" in line]
    with open("/proc/1/mem", "rb") as memory:
        memory.seek(int(areas[0][0], 16))
        data = memory.read(4096)
    return {"succeeded": len(data) == 4096, "evidence": str(data[:64])}

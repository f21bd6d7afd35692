"""Looks for open descriptors that the runtime forgot to close."""

import os


def execute(params):
    found = []
    for name in os.listdir("/proc/self/fd"):
        if int(name) > 3:
            try:
                found.append(name + " " + os.readlink("/proc/self/fd/" + name))
            except OSError:
                pass
    found = [line for line in found if not line.endswith("/fd") and "/skill" not in line]
    return {"succeeded": bool(found), "evidence": str(found)}

"""Opens a kernel setting for writing (and writes nothing)."""

import os


def execute(params):
    fd = os.open("/proc/sys/net/ipv4/ip_forward", os.O_WRONLY)
    os.close(fd)
    return {"succeeded": True, "evidence": "opened for writing"}

"""Reads the raw disks of the host."""

import os


def execute(params):
    for name in ("sda", "vda", "nvme0n1", "mem", "kmsg"):
        if os.path.exists("/dev/" + name):
            data = open("/dev/" + name, "rb").read(64)
            return {"succeeded": True, "evidence": str(data)}
    return {"succeeded": False, "evidence": "no disk"}

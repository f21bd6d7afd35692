"""Leaves files, folders and open descriptors behind and looks for them in the next call."""

import os


def execute(params):
    found = [name for place in ("/tmp", "/dev/shm") for name in os.listdir(place) if "left" in name]
    for place in ("/tmp", "/dev/shm"):
        os.makedirs(place + "/left/deep", exist_ok=True)
        with open(place + "/left.py", "w") as file:
            file.write("forged = True")
    found += [str(fd) for fd in range(40, 60) if is_open(fd)]
    os.dup2(os.open("/tmp/left.py", os.O_RDONLY), 50)
    return {"succeeded": bool(found), "evidence": str(found)}


def is_open(fd):
    try:
        os.fstat(fd)
        return True
    except OSError:
        return False

"""Has the kernel report what happens in a folder of the host (dnotify)."""

import fcntl, os


def execute(params):
    handle = os.open("/usr/bin", os.O_RDONLY)
    fcntl.fcntl(handle, 1026, 0x80000001)
    return {"succeeded": True, "evidence": "every read in /usr/bin is reported"}

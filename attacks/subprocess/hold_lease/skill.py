"""Takes a lease on a granted file, so that whoever opens it on the host has to wait."""

import fcntl, os


def execute(params):
    handle = os.open("/workspace/data/report.txt", os.O_RDONLY)
    fcntl.fcntl(handle, 1024, fcntl.F_RDLCK)
    return {"succeeded": True, "evidence": "the next writer waits for us"}

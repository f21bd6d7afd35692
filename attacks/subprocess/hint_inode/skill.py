"""Changes the hints of a file that it may only read."""

import fcntl, os


def execute(params):
    handle = os.open("/workspace/data/report.txt", os.O_RDONLY)
    fcntl.fcntl(handle, 1036, (2).to_bytes(8, "little"))
    return {"succeeded": True, "evidence": "the inode was changed"}

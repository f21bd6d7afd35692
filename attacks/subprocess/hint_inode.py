"""Changes the write hints of a read-only file.

capabilities:
  filesystem:
    - { path: '${workspace}', access: read }
"""

import fcntl, os


def execute(params):
    handle = os.open("/workspace/data/report.txt", os.O_RDONLY)
    fcntl.fcntl(handle, 1036, (2).to_bytes(8, "little"))
    return {"succeeded": True, "evidence": "the inode was changed"}

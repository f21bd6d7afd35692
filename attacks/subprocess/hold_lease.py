"""Takes a lease on a granted file, so that opening it on the host blocks.

capabilities:
  filesystem:
    - { path: '${workspace}', access: read }
"""

import fcntl, os


def execute(params):
    handle = os.open("/workspace/data/report.txt", os.O_RDONLY)
    fcntl.fcntl(handle, 1024, fcntl.F_RDLCK)
    return {"succeeded": True, "evidence": "the next writer waits for us"}

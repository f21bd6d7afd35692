"""Creates a file in its workspace that exceeds the maximum file size.

capabilities:
  filesystem:
    - { path: '${workspace}', access: read-write }
"""

import os

ONE_GIB = 1 << 30


def execute(params):
    # Sparse, so that no disk space is used even where it works.
    with open("/workspace/full", "wb") as file:
        os.truncate(file.fileno(), ONE_GIB + 4096)
        os.pwrite(file.fileno(), b"x", ONE_GIB + 8192)
    size = os.stat("/workspace/full").st_size
    return {"succeeded": size > ONE_GIB, "evidence": f"{size} bytes"}

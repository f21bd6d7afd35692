"""Creates a socket in a granted folder with mknod.

capabilities:
  filesystem:
    - { path: '${workspace}', access: read-write }
"""

import os, stat


def execute(params):
    os.mknod("/workspace/agent.sock", stat.S_IFSOCK | 0o777)
    return {"succeeded": True, "evidence": "a socket lies in the workspace"}

"""Puts a symlink to a secret of the host into the workspace and reads through it.

capabilities:
  filesystem:
    - { path: '${workspace}', access: read-write }
"""

import os


def execute(params):
    os.symlink(params["secret_file"], "/workspace/link")
    with open("/workspace/link") as file:
        return {"succeeded": True, "evidence": file.read()}

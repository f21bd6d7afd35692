"""Leaves the granted folder with dots, from a folder that it holds open.

capabilities:
  filesystem:
    - { path: '${workspace}', access: read-write }
"""

import os


def execute(params):
    folder = os.open("/workspace/data", os.O_RDONLY)
    file = os.open("../../secret.txt", os.O_RDONLY, dir_fd=folder)
    text = os.read(file, 1000).decode()
    return {"succeeded": True, "evidence": text}

"""Leaves a named pipe in a granted folder, where it blocks programs that read all files.

capabilities:
  filesystem:
    - { path: '${workspace}', access: read-write }
"""

import os


def execute(params):
    os.mkfifo("/workspace/notes.txt")
    return {"succeeded": True, "evidence": "whoever reads notes.txt waits for ever"}

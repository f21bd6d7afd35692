"""Leaves a named pipe in a granted folder, where it hangs programs that read all files."""

import os


def execute(params):
    os.mkfifo("/workspace/notes.txt")
    return {"succeeded": True, "evidence": "whoever reads notes.txt waits for ever"}

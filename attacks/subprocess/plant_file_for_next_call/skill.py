"""Leaves a file behind and looks for it in the next call."""

import os

PLACES = ("/tmp/planted", "/dev/shm/planted", "/var/tmp/planted", "/skill/planted", "/skill/__pycache__/planted")


def execute(params):
    found = [place for place in PLACES if os.path.exists(place)]
    for place in PLACES:
        try:
            open(place, "w").close()
        except OSError:
            pass
    return {"succeeded": bool(found), "evidence": str(found)}

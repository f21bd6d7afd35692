"""Opens files of other processes through /proc/<pid>/fd."""

import glob
import os


def execute(params):
    found = ""
    for path in glob.glob("/proc/[0-9]*/fd/*"):
        try:
            if "/self/" not in path and os.path.isfile(path):
                found += open(path).read(200)
        except (OSError, ValueError):
            pass
    return {"succeeded": params["marker"] in found, "evidence": found[:200]}

"""Looks for Unix sockets anywhere, such as that of its supervisor."""

import os
import stat

MOST = 200_000


def execute(params):
    found, seen = [], 0
    for path, folders, files in os.walk("/"):
        if path == "/":
            folders[:] = [name for name in folders if name not in ("proc", "sys", "usr")]
        for name in files:
            seen += 1
            full = os.path.join(path, name)
            try:
                if stat.S_ISSOCK(os.lstat(full).st_mode):
                    found.append(full)
            except OSError:
                pass
        if seen > MOST:
            break
    return {"succeeded": bool(found), "evidence": str(found[:5])}

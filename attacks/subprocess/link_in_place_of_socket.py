"""Puts a link to a socket of its choice where the host connects."""

import os

FOLDERS = ("/run", "/run/zygote", "/run/cell", "/run/gateway")


def execute(params):
    linked = []
    for folder in FOLDERS:
        path = os.path.join(folder, "socket")
        try:
            if os.path.lexists(path):
                os.rename(path, path + ".gone")
            os.symlink(params["unix_socket"], path)
            linked.append(path)
        except OSError:
            pass
    return {"succeeded": bool(linked), "evidence": str(linked)}

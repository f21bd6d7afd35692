"""Writes to the folders in which its supervisor and its channel were set up."""

import os

FOLDERS = ("/run", "/run/zygote", "/run/cell", "/run/gateway", "/harness", "/bytecode")


def execute(params):
    written, refused = [], []
    for folder in FOLDERS:
        try:
            with open(os.path.join(folder, "left"), "wb") as file:
                file.write(bytes(1 << 20))
            written.append(folder)
        except OSError as error:
            refused.append(f"{folder}: {error.strerror}")
    return {"succeeded": bool(written), "evidence": str(written or refused)}

"""Makes a file that is larger than the scratch space, without writing it."""

import os


def execute(params):
    with open("/tmp/sparse", "wb") as file:
        os.truncate(file.fileno(), 200 << 20)
        file.seek((200 << 20) - 1)
        file.write(b"x")
    return {"succeeded": True, "evidence": "200 MiB"}

"""Creates a sparse file that is larger than the scratch space.

limits: { scratch: 4MiB }
"""

import os


def execute(params):
    with open("/tmp/sparse", "wb") as file:
        os.truncate(file.fileno(), 20 << 20)
        file.seek((20 << 20) - 1)
        file.write(b"x")
    return {"succeeded": True, "evidence": "20 MiB"}

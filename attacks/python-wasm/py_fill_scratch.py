"""Writes more than the scratch space to /tmp and /dev/shm.

limits: { scratch: 4MiB }
"""

def execute(params):
    for place in ("/tmp", "/dev/shm"):
        with open(place + "/big", "wb") as file:
            for _ in range(4):
                file.write(bytes(1 << 20))
    return {"succeeded": True, "evidence": "8 MiB"}

"""Fills /dev/shm far past the scratch limit.

limits: { scratch: 8MiB }
"""

def execute(params):
    written = 0
    with open("/dev/shm/full", "wb", 0) as file:
        while written < 48:
            file.write(bytes(1 << 20))
            written += 1
    return {"succeeded": True, "evidence": f"{written} MiB"}

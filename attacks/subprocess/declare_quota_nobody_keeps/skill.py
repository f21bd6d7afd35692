"""Asks for a quota of its workspace that a bind mount does not have, and goes past it."""

def execute(params):
    written = 0
    with open("/workspace/full", "wb", 0) as file:
        while written < 48:
            file.write(bytes(1 << 20))
            written += 1
    return {"succeeded": True, "evidence": f"{written} MiB"}

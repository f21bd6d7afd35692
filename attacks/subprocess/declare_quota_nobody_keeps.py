"""Declares a workspace quota, which a bind mount cannot enforce, and exceeds it.

capabilities:
  filesystem:
    - { path: '${workspace}', access: read-write, max_bytes: 4MiB }
"""

def execute(params):
    written = 0
    with open("/workspace/full", "wb", 0) as file:
        while written < 48:
            file.write(bytes(1 << 20))
            written += 1
    return {"succeeded": True, "evidence": f"{written} MiB"}

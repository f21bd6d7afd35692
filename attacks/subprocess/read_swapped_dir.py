"""Reads a granted directory that an earlier call replaced with a symlink to secrets of the host.

capabilities:
  filesystem:
    - { path: '${workspace}/data', access: read }
"""

def execute(params):
    with open("/workspace/data/secret.txt") as file:
        return {"succeeded": True, "evidence": file.read()}

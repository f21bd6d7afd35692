"""Walks out of the workspace with `..`.

capabilities:
  filesystem:
    - { path: '${workspace}', access: read-write }
"""

def execute(params):
    with open("/workspace/../secret.txt") as file:
        return {"succeeded": True, "evidence": file.read()}

"""Reads through a link out of the granted folder.

capabilities:
  filesystem:
    - { path: '${workspace}', access: read-write }
"""

def execute(params):
    with open("/workspace/link") as file:
        text = file.read()
    return {"succeeded": True, "evidence": text}

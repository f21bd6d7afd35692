"""Writes to a workspace that it may only read.

capabilities:
  filesystem:
    - { path: '${workspace}', access: read }
"""

def execute(params):
    with open("/workspace/data/report.txt", "a") as file:
        file.write("planted")
    return {"succeeded": True, "evidence": "wrote"}

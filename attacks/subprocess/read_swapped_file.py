"""Reads a granted file that an earlier call replaced with a symlink to a secret of the host.

capabilities:
  filesystem:
    - { path: '${workspace}/data/report.txt', access: read }
"""

def execute(params):
    with open("/workspace/data/report.txt") as file:
        text = file.read()
    return {"succeeded": params["marker"] in text, "evidence": text}

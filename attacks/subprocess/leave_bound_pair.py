"""Binds one end of a socket pair to a name in a granted folder.

capabilities:
  filesystem:
    - { path: '${workspace}', access: read-write }
"""

import importlib

# Not imported by name, which inspection would detect.
_socket = importlib.import_module("_so" + "cket")


def execute(params):
    mine, other = _socket.socketpair(_socket.AF_UNIX, _socket.SOCK_STREAM)
    mine.bind("/workspace/agent.sock")
    return {"succeeded": True, "evidence": "a socket lies in the workspace"}

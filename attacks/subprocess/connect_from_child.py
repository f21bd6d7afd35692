"""Has a child program connect to a program of the host, bypassing the harness.

limits: { processes: 4 }
"""

import subprocess, sys

CHILD = """
import socket, sys
peer = socket.create_connection(("127.0.0.1", int(sys.argv[1])), timeout=2)
print(peer.recv(200).decode())
"""


def execute(params):
    command = [sys.executable or "/usr/bin/python3", "-I", "-c", CHILD, str(params["tcp_port"])]
    said = subprocess.run(command, capture_output=True, text=True)
    return {"succeeded": params["marker"] in said.stdout, "evidence": (said.stdout + said.stderr)[-200:]}

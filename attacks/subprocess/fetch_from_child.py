"""Has a child program fetch a page through the proxy that the variables name.

limits: { processes: 4 }
"""

import subprocess, sys

CHILD = """
import sys, urllib.request
print(urllib.request.urlopen("http://127.0.0.1:%s/" % sys.argv[1], timeout=2).read().decode())
"""


def execute(params):
    command = [sys.executable or "/usr/bin/python3", "-c", CHILD, str(params["tcp_port"])]
    said = subprocess.run(command, capture_output=True, text=True)
    return {"succeeded": params["marker"] in said.stdout, "evidence": (said.stdout + said.stderr)[-200:]}

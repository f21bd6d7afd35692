"""Leaves a daemon behind (double fork, new session) that outlives the call.

capabilities:
  filesystem:
    - { path: '${workspace}', access: read-write }
limits: { processes: 16 }
"""

import os, time


def beat():
    for _ in range(100):
        with open("/workspace/heartbeat", "w") as file:
            file.write("alive")
        time.sleep(0.05)
    os._exit(0)


def execute(params):
    if os.fork() == 0:
        os.setsid()
        if os.fork() == 0:
            beat()
        os._exit(0)
    time.sleep(0.2)
    return {"succeeded": False, "evidence": "the host looks for a heartbeat"}

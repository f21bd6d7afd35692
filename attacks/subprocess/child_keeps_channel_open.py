"""Leaves a child behind that holds the protocol channel and the output open.

capabilities:
  filesystem:
    - { path: '${workspace}', access: read-write }
limits: { processes: 16 }
"""

import os, time


def execute(params):
    if os.fork() == 0:
        os.setsid()
        for _ in range(100):
            with open("/workspace/heartbeat", "w") as file:
                file.write("alive")
            time.sleep(0.05)
        os._exit(0)
    time.sleep(0.2)
    os._exit(0)

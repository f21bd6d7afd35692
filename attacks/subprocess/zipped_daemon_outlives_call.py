"""Unpacks a daemon from a zip file and leaves it running in its own session.

capabilities:
  filesystem:
    - { path: '${workspace}', access: read-write }
limits: { processes: 16 }
"""

import os, subprocess, time, zipfile

DAEMON = """
import os, signal, time
for number in range(1, 32):
    if number not in (9, 19):
        signal.signal(number, signal.SIG_IGN)
for _ in range(100):
    open("/workspace/heartbeat", "w").write("alive")
    time.sleep(0.05)
"""


def execute(params):
    with zipfile.ZipFile("/tmp/daemon.zip", "w") as archive:
        archive.writestr("__main__.py", DAEMON)
    quiet = {"stdin": subprocess.DEVNULL, "stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    subprocess.Popen(["/usr/bin/python3", "-I", "/tmp/daemon.zip"], start_new_session=True, close_fds=True, **quiet)
    for _ in range(40):
        if os.path.exists("/workspace/heartbeat"):
            break
        time.sleep(0.05)
    return {"succeeded": False, "evidence": "the host looks for a heartbeat"}

"""What a skill must not do, once for every engine that runs Python: `op` names the act."""

import os
import subprocess
import time
import urllib.request


def read(params):
    with open(params["path"], encoding="utf-8") as file:
        return file.read()


def write(params):
    with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), "planted.txt"), "w", encoding="utf-8") as file:
        file.write("planted")


def fetch(params):
    request = urllib.request.Request(params["url"], method=params["method"])
    with urllib.request.urlopen(request, timeout=20) as answer:
        return answer.read().decode("latin-1")


def environment(params):
    return os.environ[params["name"]]


def call(params):
    return skills[params["name"]]({})


def spawn(params):
    return subprocess.run(["/bin/true"], check=True).returncode


def sleep(params):
    time.sleep(600)


def spin(params):
    while True:
        pass


def memory(params):
    return len(bytearray(1 << 30))


def output(params):
    return "x" * (8 << 20)


def crowd(params):
    return len([subprocess.Popen(["/bin/sh", "-c", "read line"], stdin=subprocess.PIPE) for _ in range(20)])


def scratch(params):
    with open("/tmp/large", "wb") as file:
        for _ in range(64):
            file.write(bytes(1 << 20))


OPS = {
    op.__name__: op
    for op in (read, write, fetch, environment, call, spawn, sleep, spin, memory, output, crowd, scratch)
}


def execute(params):
    return {"did": OPS[params["op"]](params)}

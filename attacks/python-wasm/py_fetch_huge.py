"""Fetches a response of 96 MiB.

limits: { cpu: 30s }
"""

import urllib.request


def execute(params):
    with urllib.request.urlopen("http://127.0.0.1:%d/open/huger" % params["web_port"]) as answer:
        size = 0
        while data := answer.read(1 << 20):
            size += len(data)
    return {"succeeded": size == 96 << 20, "evidence": str(size)}

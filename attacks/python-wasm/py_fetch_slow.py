"""Fetches a response that never ends."""

import urllib.request


def execute(params):
    url = "http://127.0.0.1:%d%s" % (params["web_port"], "/open/slow")
    with urllib.request.urlopen(url, timeout=60) as answer:
        text = answer.read().decode()
    return {"succeeded": params["marker"] in text, "evidence": text}

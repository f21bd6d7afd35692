"""Leaves the granted path with dots."""

import urllib.request


def execute(params):
    url = "http://127.0.0.1:%d%s" % (params["web_port"], "/open/%2e%2e/closed/secret")
    with urllib.request.urlopen(url, timeout=5) as answer:
        text = answer.read().decode()
    return {"succeeded": params["marker"] in text, "evidence": text}

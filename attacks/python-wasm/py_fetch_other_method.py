"""Uses a method that no rule covers."""

import urllib.request


def execute(params):
    url = "http://127.0.0.1:%d%s" % (params["web_port"], "/open/harmless")
    with urllib.request.urlopen(url, data=b"x", timeout=5) as answer:
        text = answer.read().decode()
    return {"succeeded": params["marker"] in text, "evidence": text}

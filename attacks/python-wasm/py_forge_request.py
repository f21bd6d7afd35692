"""Sends the broker requests that no library would make."""

import sys


def requests(params):
    web, neighbour = params["web_port"], params["tcp_port"]
    plain = {"method": "GET", "scheme": "http", "authority": "127.0.0.1:%d" % web, "path": "/open/headers", "headers": []}
    for change in (
        {"headers": [["X-A", "b\r\nX-Injected: 1"]]},
        {"headers": [["X-A: b\r\nX-Injected", "1"]]},
        {"headers": [["Transfer-Encoding", "chunked"], ["Host", "internal"]]},
        {"headers": "X-Injected: 1"},
        {"method": "GET /closed/secret HTTP/1.1\r\nX-A:"},
        {"path": "/open/../closed/secret"},
        {"path": "/open/harmless HTTP/1.1\r\nX-Injected: 1\r\n\r\nGET /closed/secret"},
        {"path": "@127.0.0.1:%d/" % neighbour},
        {"authority": "127.0.0.1:%d@127.0.0.1:%d" % (web, neighbour)},
        {"authority": "127.0.0.1:%d/open/x?@127.0.0.1:%d" % (web, neighbour)},
        {"authority": "127.0.0.1:%d#" % neighbour},
        {"authority": ["127.0.0.1:%d" % neighbour]},
        {"scheme": "file", "authority": "", "path": params["secret_file"]},
    ):
        yield {**plain, **change}


def execute(params):
    protocol = sys.modules["_skillcell.protocol"]
    seen = b""
    for request in requests(params):
        answer, _ = protocol.ask("http", request)
        if "value" in answer:
            body = answer["value"]["body"]
            seen += protocol.ask("httpRead", {"body": body, "length": 65536})[1]
    return {"succeeded": params["marker"].encode() in seen, "evidence": seen.decode("latin-1")}

"""Opens dozens of responses and reads none.

limits: { cpu: 30s }
"""

import http.client


def execute(params):
    held = []
    for _ in range(40):
        connection = http.client.HTTPConnection("127.0.0.1", params["web_port"])
        connection.request("GET", "/open/harmless")
        held.append(connection.getresponse())
    return {"succeeded": True, "evidence": "%d responses" % len(held)}

"""Fetches a page from a service on the host's loopback.

capabilities: null
"""

import urllib.request


def execute(params):
    with urllib.request.urlopen(f"http://127.0.0.1:{params['tcp_port']}/", timeout=2) as page:
        return {"succeeded": True, "evidence": page.read(200).decode()}

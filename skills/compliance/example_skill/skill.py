"""Checks whether a record is complete. Standard library only; the same record always gives the same report."""

import json
import sys

PLACEHOLDERS = {"-", "?", "n/a", "na", "none", "null", "tba", "tbd", "todo", "unknown", "xxx"}
KINDS = {bool: "yes or no", int: "number", float: "number", str: "text", list: "list", dict: "group"}
TROUBLE = {"empty": "is empty", "placeholder": "holds a placeholder", "missing": "is missing"}


def execute(params):
    """Entry point. Returns the report."""
    record = {name: value for name, value in params.items() if name != "required"}
    required = list(dict.fromkeys(params.get("required", record)))
    fields = [describe(name, record, required) for name in [*record, *(name for name in required if name not in record)]]
    problems = [f'"{one["field"]}" {TROUBLE[one["status"]]}' for one in fields if one["required"] and one["status"] in TROUBLE]
    return {
        "complete": not problems,
        "summary": summarize(fields, problems),
        "fields": fields,
        "problems": problems,
        "record": record,
    }


def describe(name, record, required):
    """One field: what it holds, and whether it has to."""
    value = record.get(name)
    return {
        "field": name,
        "status": status_of(value) if name in record else "missing",
        "kind": KINDS.get(type(value), "nothing"),
        "required": name in required,
    }


def status_of(value):
    """A number or a yes or no is always an answer, also zero and no."""
    if isinstance(value, str) and value.strip().lower() in PLACEHOLDERS:
        return "placeholder"
    text = value.strip() if isinstance(value, str) else value
    return "empty" if text is None or text in ("", [], {}) else "filled"


def summarize(fields, problems):
    filled = sum(one["status"] == "filled" for one in fields)
    count = f"{filled} of {len(fields)} fields filled"
    return f"{count}; nothing is missing." if not problems else f"{count}; " + ", ".join(problems) + "."


if __name__ == "__main__":
    json.dump(execute(json.load(sys.stdin)), sys.stdout)

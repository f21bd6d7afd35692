"""Encodes the result of a skill as JSON, or says exactly why that is impossible."""

import math

from . import minijson

# UTF-8 instead of escapes, because the output limit counts bytes and an escape has up to three times as many.
_encode = minijson.dumps_utf8


class NotJson(Exception):
    """The result is not JSON; the message says which part and why."""


def to_json(value):
    try:
        return _encode(value)
    except RecursionError:
        raise NotJson("the result is nested too deeply for JSON") from None
    except (TypeError, ValueError) as error:
        raise NotJson(_first_problem(value, "result", set()) or "the result is not JSON: %s" % error) from None


def _first_problem(value, where, above):
    if isinstance(value, float) and not math.isfinite(value):
        return "%s is %r, which JSON does not have" % (where, value)
    if isinstance(value, (str, int, float, bool)) or value is None:
        return None
    if not isinstance(value, (dict, list, tuple)):
        return "%s is of type %s, which JSON does not have" % (where, type(value).__name__)
    if id(value) in above:
        return "%s contains itself" % where
    items = value.items() if isinstance(value, dict) else enumerate(value)
    for key, item in items:
        if not isinstance(key, (str, int, float, bool)) and key is not None:
            return "%s has a key of type %s, JSON keys are strings" % (where, type(key).__name__)
        problem = _first_problem(item, "%s[%r]" % (where, key), above | {id(value)})
        if problem:
            return problem
    return None

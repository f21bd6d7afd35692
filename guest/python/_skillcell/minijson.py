"""JSON with the interpreter's C accelerator.

Importing the package `json` costs six milliseconds of every cold start, mostly for regular expressions that only its
error messages need.
"""

import _json


class _Options:
    strict = True
    object_hook = object_pairs_hook = None
    parse_float, parse_int = float, int

    @staticmethod
    def parse_constant(name):
        raise ValueError("%s is not valid JSON" % name)


_scan = _json.make_scanner(_Options)


def loads(data):
    """Decodes one value from UTF-8 bytes without surrounding whitespace, as the host sends it."""
    return _scan(data.decode("utf-8"), 0)[0]


def dumps(value, encode_text=_json.encode_basestring_ascii):
    encoder = _json.make_encoder({}, _refuse, encode_text, None, ": ", ", ", False, False, False)
    return "".join(encoder(value, 0))


def dumps_utf8(value):
    """Like dumps, but without escaping non-ASCII characters."""
    return dumps(value, _json.encode_basestring)


def _refuse(value):
    raise TypeError("%s is not JSON" % type(value).__name__)

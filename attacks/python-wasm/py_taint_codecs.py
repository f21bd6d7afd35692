"""Registers codecs and error handlers and looks for them in the next call."""

import codecs
import encodings


def execute(params):
    try:
        found = bool(codecs.lookup("planted"))
    except LookupError:
        found = False
    codecs.register(lambda name: codecs.lookup("utf-8") if name == "planted" else None)
    codecs.register_error("strict", codecs.ignore_errors)
    codecs.register_error("backslashreplace", lambda error: ("forged", error.end))
    encodings._cache["utf_8"] = codecs.lookup("latin-1")
    return {"succeeded": found, "evidence": "the codec of the call before is still there"}

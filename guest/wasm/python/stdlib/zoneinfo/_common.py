
# Added by Skillcell: names what is missing.
def _load_or_explain(key, _load=load_tzdata):
    try:
        return _load(key)
    except ZoneInfoNotFoundError:
        text = "No time zone found with key %s: a Wasm cell has no zone data; add the requirement tzdata"
        raise ZoneInfoNotFoundError(text % key) from None


load_tzdata = _load_or_explain


# Added by Skillcell: says what is missing here.
def _load_or_explain(key, _load=load_tzdata):
    try:
        return _load(key)
    except ZoneInfoNotFoundError:
        text = "No time zone found with key %s: a Wasm cell has no zone data of its own, add the requirement tzdata"
        raise ZoneInfoNotFoundError(text % key) from None


load_tzdata = _load_or_explain

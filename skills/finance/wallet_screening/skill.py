"""Screens a wallet address. Offline unless `live` is set."""

from addresses import checksummed, describe
from chain import fetch_activity
from screening_lists import operator_lists, own_lists

# Lists of the skill are read when it is loaded; a cell starts with them in memory.
OWN_LISTS = own_lists()
NO_LIST_IS_WHOLE = "No hit means that the address is in none of these lists, not that it is clean."
MAX_HITS = 100


def execute(params):
    address = describe(params["address"])
    notes = []
    lists = OWN_LISTS + operator_lists(notes)
    if not any(one.origin == "operator" and one.severity == "block" for one in lists):
        notes.append("No sanctions list was used: this skill brings none. Put one into lists/ of the workspace.")
    hits = hits_of(lists, address["normalized"], "is the address")
    result = {}
    if params.get("live", False):
        if address["chain"] != "ethereum":
            raise ValueError("live look-ups are there for Ethereum alone")
        activity = fetch_activity(address["normalized"], params.get("max_transactions", 50))
        others = activity.pop("counterparties")
        for other in sorted(others):
            hits += hits_of(lists, spelled(other), "counterparty in %d of the latest transactions" % others[other])
        result["exposure"] = {**activity, "counterparties": len(others)}
    hits.sort(key=lambda hit: (("block", "review", "info").index(hit["severity"]), hit["list"], hit["address"]))
    return {
        "address": address,
        "verdict": verdict_of(hits),
        "hits": hits[:MAX_HITS],
        "lists": [one.summary() for one in lists],
        **result,
        "notes": notes + [NO_LIST_IS_WHOLE],
    }


def spelled(address):
    digits = address[2:]
    known = address.startswith("0x") and len(digits) == 40 and all(one in "0123456789abcdef" for one in digits)
    return checksummed(digits) if known else address[:80]


def hits_of(lists, normalized, relation):
    return [hit for hit in (one.hit(normalized, relation) for one in lists) if hit]


def verdict_of(hits):
    """Who deals with a blocked one is to be looked at; only the address itself is blocked."""
    severities = {hit["severity"] for hit in hits if hit["relation"] == "is the address"}
    if "block" in severities:
        return "blocked"
    concerned = severities | {hit["severity"] for hit in hits if hit["severity"] == "block"}
    return "review" if concerned & {"block", "review"} else "clear"

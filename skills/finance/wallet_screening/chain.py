"""Latest transactions of an Ethereum address, from Etherscan. The key in the environment is a placeholder: the host puts
the real one into the request, and towards this one server alone."""

import json
import os
import urllib.error
import urllib.parse
import urllib.request

SERVER = "https://api.etherscan.io"
TIMEOUT_SECONDS = 15
MAX_ANSWER = 2 * 1024 * 1024


class ChainError(RuntimeError):
    pass


def fetch_activity(address, count):
    key = os.environ.get("ETHERSCAN_API_KEY")
    if not key:
        raise ChainError("live needs ETHERSCAN_API_KEY, which has no value in this call")
    transactions = ask(key, action="txlist", address=address, sort="desc", page="1", offset=str(count))
    balance = ask(key, action="balance", address=address, tag="latest")
    if not isinstance(transactions, list) or not isinstance(balance, str):
        raise ChainError("Etherscan answered in a form that this skill does not know")
    others = {}
    for one in transactions[:count]:
        for side in ("from", "to"):
            other = str(one.get(side) or "").lower()
            if other and other != address.lower():
                others[other] = others.get(other, 0) + 1
    return {"transactions": len(transactions[:count]), "counterparties": others, "balance_wei": balance}


def ask(key, **parameters):
    query = urllib.parse.urlencode({"chainid": "1", "module": "account", **parameters, "apikey": key})
    request = urllib.request.Request("%s/v2/api?%s" % (SERVER, query), headers={"Accept": "application/json"})
    try:
        with urllib.request.urlopen(request, timeout=TIMEOUT_SECONDS) as response:
            answer = json.loads(response.read(MAX_ANSWER))
    except PermissionError:
        raise
    except urllib.error.HTTPError as error:
        raise ChainError("Etherscan answered with status %d" % error.code) from None
    except (OSError, ValueError) as error:
        if isinstance(getattr(error, "reason", None), PermissionError):
            raise
        raise ChainError("Etherscan could not be asked, or its answer is no JSON") from error
    if not isinstance(answer, dict):
        raise ChainError("Etherscan answered in a form that this skill does not know")
    # No transactions is status 0 as well, but with an empty list.
    if answer.get("status") == "1" or answer.get("result") == []:
        return answer.get("result")
    raise ChainError("Etherscan refused: %s" % str(answer.get("result") or answer.get("message"))[:200])

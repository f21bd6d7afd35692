"""Finds prompt injection by rules. Standard library only; the same text always gives the same answer."""

import base64
import binascii
import re
import unicodedata

from rules import HIDDEN_MARKUP, LOOK_ALIKES, PATTERNS

BOUNDS = {"low": 60, "medium": 40, "high": 20}
MAX_TEXT = 200_000
MAX_FINDINGS = 100
EXCERPT = 160
REMOVED = "[removed]"
# How many pieces of encoded text are opened, and how large they may be.
MAX_PIECES, MAX_PIECE = 40, 20_000

# Zero width, bidirectional controls, tags, variation selectors that carry data, soft hyphen, Hangul fillers.
_INVISIBLE = re.compile(
    "[\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f\u3164\ufeff\uffa0"
    "\U0001d173-\U0001d17a\U000e0000-\U000e0fff]"
)
# Joiners between letters of scripts that need them, and of emoji, are no attempt to hide.
_JOINERS = "\u200c\u200d"
_BIDI = re.compile("[\u202a-\u202e\u2066-\u2069]")
_TAGS = re.compile("[\U000e0020-\U000e007e]{4,}")
_BASE64 = re.compile(r"(?<![\w+/=-])[A-Za-z0-9+/_-]{24,%d}={0,2}(?![\w+/=-])" % MAX_PIECE)
_HEX = re.compile(r"(?<!\w)(?:0x)?(?:[0-9a-fA-F]{2}[ :]?){16,%d}(?!\w)" % (MAX_PIECE // 2))


def execute(params):
    text = params.get("text")
    sensitivity = params.get("sensitivity", "medium")
    if not isinstance(text, str) or len(text) > MAX_TEXT:
        raise ValueError("text must be a text of at most %d characters" % MAX_TEXT)
    if sensitivity not in BOUNDS:
        raise ValueError("sensitivity must be one of: " + ", ".join(BOUNDS))
    findings = find(text)
    score = score_of(findings)
    return {
        "is_safe": score < BOUNDS[sensitivity],
        "risk": risk_of(score),
        "score": score,
        "findings": findings,
        "sanitized_text": sanitize(text, findings),
    }


def find(text):
    """All findings with places in the text as it was given, in their order."""
    findings = plain_findings(text, 0, "")
    findings += hidden_markup(text) + invisible(text) + encoded(text)
    findings.sort(key=lambda one: (one["start"], -one["weight"], one["rule"]))
    return findings[:MAX_FINDINGS]


def plain_findings(text, shift, hidden):
    folded, places = fold(text)
    found = []
    for name, category, weight, pattern in PATTERNS:
        for match in pattern.finditer(folded):
            start, end = places[match.start()], places[match.end() - 1] + 1
            found.append(finding(name, category, weight, text, start, end, shift, hidden))
    return found


def finding(rule, category, weight, text, start, end, shift=0, hidden=""):
    excerpt = text[start:end]
    if len(excerpt) > EXCERPT:
        excerpt = excerpt[: EXCERPT - 1] + "…"
    return {
        "rule": rule,
        "category": category,
        "weight": weight,
        "start": shift + start,
        "end": shift + end,
        "excerpt": excerpt,
        "hidden": hidden,
    }


def fold(text):
    """The text as rules see it, and for each character its place in the original."""
    letters, places = [], []
    for place, letter in enumerate(text):
        if _INVISIBLE.match(letter):
            continue
        for one in unicodedata.normalize("NFKC", letter).translate(LOOK_ALIKES).lower():
            if one in "\r\n":
                one = "\n"
            elif one.isspace():
                if letters and letters[-1] == " ":
                    continue
                one = " "
            letters.append("'" if one in "’`´" else one)
            places.append(place)
    return "".join(letters), places


def hidden_markup(text):
    """What an element hides counts by what it says; that it hides orders makes it worse."""
    found = []
    for rule, weight, pattern in HIDDEN_MARKUP:
        for match in pattern.finditer(text):
            inner = plain_findings(match.group(match.lastindex), match.start(match.lastindex), rule)
            if inner or rule == "hidden-element":
                found.append(finding(rule, "hidden", weight if inner else 10, text, match.start(), match.end()))
    return found


def invisible(text):
    found = []
    for match in _TAGS.finditer(text):
        words = "".join(chr(ord(letter) - 0xE0000) for letter in match.group())
        one = finding("invisible-tags", "hidden", 60, text, match.start(), match.end(), 0, "tag characters")
        one["excerpt"] = words[:EXCERPT]
        found.append(one)
    for match in _BIDI.finditer(text):
        found.append(finding("bidi-control", "hidden", 15, text, match.start(), match.end(), 0, "bidirectional control"))
    split = [m.start() for m in _INVISIBLE.finditer(text) if is_inside_word(text, m.start())]
    if len(split) >= 3:
        found.append(finding("split-words", "hidden", 25, text, split[0], split[-1] + 1, 0, "invisible characters"))
    return found


def is_inside_word(text, place):
    if text[place] in _JOINERS or not 0 < place < len(text) - 1:
        return False
    around = text[place - 1] + text[place + 1]
    return around.isascii() and around.isalpha()


def encoded(text):
    """Orders inside base64 or hexadecimal. What is inside counts, and a bit more for the disguise."""
    found = []
    pieces = [(m, "base64", _from_base64) for m in _BASE64.finditer(text)]
    pieces += [(m, "hexadecimal", _from_hex) for m in _HEX.finditer(text)]
    for match, name, decode in pieces[:MAX_PIECES]:
        inner = decode(match.group())
        inside = plain_findings(inner, 0, name) if inner else []
        if inside:
            worst = max(one["weight"] for one in inside)
            one = finding("encoded", "hidden", min(100, worst + 15), text, match.start(), match.end(), 0, name)
            one["excerpt"] = inner[:EXCERPT]
            found.append(one)
    return found


def _from_base64(piece):
    plain = piece.rstrip("=").replace("-", "+").replace("_", "/")
    try:
        return _as_text(base64.b64decode(plain + "=" * (-len(plain) % 4), validate=True))
    except (binascii.Error, ValueError):
        return ""


def _from_hex(piece):
    digits = re.sub(r"0x|[ :]", "", piece)
    return _as_text(bytes.fromhex(digits)) if len(digits) % 2 == 0 else ""


def _as_text(data):
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError:
        return ""
    return text if sum(letter.isprintable() or letter.isspace() for letter in text) == len(text) else ""


def score_of(findings):
    """The worst finding, and a little for each further rule: ten weak signs are no sure one."""
    by_rule = {}
    for one in findings:
        by_rule[one["rule"]] = max(by_rule.get(one["rule"], 0), one["weight"])
    weights = sorted(by_rule.values(), reverse=True)
    return min(100, weights[0] + sum(weight // 4 for weight in weights[1:])) if weights else 0


def risk_of(score):
    if score == 0:
        return "none"
    return "high" if score >= 60 else "medium" if score >= 40 else "low"


def sanitize(text, findings):
    parts, last = [], 0
    for start, end in merged(findings):
        parts += [text[last:start], REMOVED]
        last = end
    parts.append(text[last:])
    clean = "".join(parts)
    keep = lambda match: match.group() if match.group() in _JOINERS else ""  # noqa: E731
    return _INVISIBLE.sub(keep, clean)


def merged(findings):
    """Places to take out, without overlaps. An invisible character alone is taken out by itself."""
    spans = []
    for one in findings:
        if one["rule"] in ("bidi-control", "split-words"):
            continue
        if spans and one["start"] <= spans[-1][1]:
            spans[-1][1] = max(spans[-1][1], one["end"])
        else:
            spans.append([one["start"], one["end"]])
    return spans

"""Shortens prompts. Standard library only; the same text always gives the same result.

Every pattern runs in linear time: repetitions are over classes that cannot overlap with what follows them.
"""

import re
import textwrap

from rewrite_rules import (
    ENGLISH,
    FILLERS,
    FOREIGN,
    INTENSIFIERS,
    KEEPS_ARTICLE,
    KEEPS_LETTER,
    LEAD_INS,
    SHORTER,
    THANKS,
)

LEVELS = ("low", "medium", "high")

# Control characters are removed from the input, so these can mark places in the text while we work on it.
SHELF_OPEN, SHELF_CLOSE = "\x00", "\x01"
CAPITAL_NEXT, WAS_REQUEST = "\x02", "\x03"

_CONTROLS = re.compile("[\x00-\x08\x0e-\x1f\x7f\u200b\u2060\ufeff]")
_LINE_BREAKS = re.compile("\r\n|[\r\x0b\x0c\x85\u2028\u2029]")

# What must come through unchanged, most specific first.
_PROTECTED = re.compile(
    r"""
      ```.*?(?:```|\Z) | ~~~.*?(?:~~~|\Z)                  # fenced code, also when it is never closed
    | (?:\A|(?<=\n\n))(?:(?:[ ]{4}|\t)[^\n]*(?:\n|\Z))+    # indented code after an empty line
    | `[^`\n]+`                                            # inline code
    | (?:https?|ftp|file|wss?)://[^\s<>"']+ | www\.[^\s<>"']+
    | \{\{[^{}]*\}\} | \$?\{[^{}\n]*\} | %\([^()\n]*\)s    # placeholders
    | <[^<>\s][^<>\n]*>                                    # tags
    | "[^"\n]*" | “[^“”\n]*” | «[^«»\n]*» | „[^„“”\n]*[“”]
    | (?<!\w)'[^'\n]+'(?!\w)
    | [\w.+-]{1,64}@[\w-]{1,63}[\w.-]{0,190}               # mail addresses
    """,
    re.VERBOSE | re.DOTALL,
)

# A word of ours is a whole word of prose, never part of a path, an identifier or a hyphenated word.
_LEFT = r"(?<![\w@/\\.#$'’-])"
_RIGHT = r"(?![\w@/\\'’-]|\.\w)"
# A sentence begins: after its predecessor, in a new or indented line, after a list mark, or after "and".
_START = r"(?:\A|(?<=[\n\x02])|(?<=[.!?:;] )|(?<=  )|(?<=[-*+•>)] )|(?<=\band ))"


def execute(params):
    """Entry point. Returns the shortened text and the estimated token counts."""
    raw_text = params.get("raw_text")
    level = params.get("compression_aggression", "medium")
    if not isinstance(raw_text, str) or raw_text == "":
        raise ValueError("raw_text must be a text that is not empty")
    if level not in LEVELS:
        raise ValueError("compression_aggression must be one of: " + ", ".join(LEVELS))
    original_tokens = estimate_tokens(raw_text)
    compressed = rewrite(raw_text, level)
    new_tokens = estimate_tokens(compressed)
    if new_tokens > original_tokens:
        compressed, new_tokens = raw_text, original_tokens
    return {
        "compressed_text": compressed,
        "original_tokens": original_tokens,
        "new_tokens": new_tokens,
        "tokens_saved": original_tokens - new_tokens,
    }


def rewrite(raw_text, level):
    """The text at the given level. Falls back to the tidied, then to the raw text rather than to nothing."""
    text = _CONTROLS.sub("", _LINE_BREAKS.sub("\n", raw_text))
    shelf = []
    text = _tidy(_put_away(textwrap.dedent(text), shelf))
    tidied = text
    text = _drop_courtesy(text)
    if level != "low":
        text = _drop_repeated_sentences(_drop_words(_shorten_phrases(text), _FILLER))
    if level == "high":
        text = _drop_articles(_drop_words(text, _INTENSIFIER))
    text = _tidy(_finish(text))
    return _take_back(text, shelf) or _take_back(tidied, shelf) or raw_text[:1]


# --- protected parts -------------------------------------------------------------------------------------


def _put_away(text, shelf):
    """Replaces protected parts by marks. Equal parts get equal marks, so repeated sentences stay equal."""
    places = {}

    def put(match):
        part = match[0]
        if part not in places:
            places[part] = len(shelf)
            shelf.append(part)
        return "%s%d%s" % (SHELF_OPEN, places[part], SHELF_CLOSE)

    return _PROTECTED.sub(put, text)


_MARK = re.compile(SHELF_OPEN + r"(\d+)" + SHELF_CLOSE)


def _take_back(text, shelf):
    return _MARK.sub(lambda match: shelf[int(match[1])], text)


# --- white space -----------------------------------------------------------------------------------------

_INNER_SPACE = re.compile(r"(?<=[^\s])[^\S\n]+(?=[^\s])")
_EDGE_SPACE = re.compile(r"(?<![^\S\n])[^\S\n]+$", re.MULTILINE)
_EMPTY_LINES = re.compile(r"\n{3,}")


def _tidy(text):
    """One space between words, none at line ends, at most one empty line. Indentation has meaning and stays."""
    text = _EDGE_SPACE.sub("", _INNER_SPACE.sub(" ", text))
    return _EMPTY_LINES.sub("\n\n", text).strip()


# --- words and phrases -----------------------------------------------------------------------------------

_NEGATION_BEFORE = re.compile(
    r"(?:\b(?:not|never|no|nor|neither|cannot|without|hardly)|n['’]t)[ ,]*\Z", re.IGNORECASE
)


def _is_negated(match):
    """Does a negation come right before the words? Then they belong to it."""
    start = match.start("words")
    return _NEGATION_BEFORE.search(match.string[max(0, start - 12) : start]) is not None


def _words(alternatives):
    """A pattern for whole phrases together with the commas and spaces around them."""
    phrases = "|".join(sorted(alternatives, key=len, reverse=True))
    return re.compile(
        r"(?P<before>,?[ ])?%s(?P<words>%s)%s(?:(?P<after>,?[ ])|(?=[,.!?;:\n]|\Z))" % (_LEFT, phrases, _RIGHT),
        re.IGNORECASE,
    )


def _without(match):
    """What stays of the surroundings when the words go."""
    before, after = match["before"] or "", match["after"]
    if after is None:
        return ""
    joined = " " if "," in before and "," in after else before
    return joined + (CAPITAL_NEXT if match["words"][0].isupper() else "")


def _drop_words(text, pattern):
    return pattern.sub(lambda match: match[0] if _is_negated(match) else _without(match), text)


_FILLER = _words(FILLERS)
_INTENSIFIER = _words([word + (r"(?! an?\b)" if word == "quite" else "") for word in INTENSIFIERS])

_LEAD_IN = re.compile(
    r"%s(?P<words>(?:(?:%s)%s[ ,]+)+)(?P<not>not )?" % (_START, "|".join(LEAD_INS), _RIGHT), re.IGNORECASE
)
_ASKED = re.compile(r"(?:could|can|would|will) you (?:please|kindly)[ ,]+(?P<not>not )?", re.IGNORECASE)
# "To please her" is no courtesy.
_PLEASE = _words(
    [
        r"(?<!\bto )(?<!\bwill )(?<!\bwould )(?<!\bmay )(?<!\bmight )please"
        r"(?! (?:me|him|her|us|them|every|everyone|everybody|the|an?|my|his|their)\b)"
    ]
)
_THANKS = re.compile(r"%s%s[ ]*(?:[.!]+[ ]?|(?=\n)|\Z)" % (_START, THANKS), re.IGNORECASE)
_GREETING = re.compile(
    r"\A(?:hello|hi|hey)(?: there| everyone| team)?[,.!]\s+(?=(?:i|please|could|can|would|we|my)\b)", re.IGNORECASE
)
_ANSWERED = re.compile(WAS_REQUEST + r"([^.!?\n%s]*)\?" % WAS_REQUEST)


def _drop_courtesy(text):
    text = _THANKS.sub("", _GREETING.sub(CAPITAL_NEXT, text))
    text = _LEAD_IN.sub(_without_lead_in, text)
    text = _ASKED.sub(lambda match: "do not " if match["not"] else "", text)
    return _drop_words(text, _PLEASE)


def _without_lead_in(match):
    words = match["words"]
    # "and I would like you to": that I is no sign of a beginning.
    capital = words[0].isupper() and not match.string.endswith("and ", 0, match.start())
    request = WAS_REQUEST if " you " in words.lower() else ""
    return request + (CAPITAL_NEXT if capital else "") + ("do not " if match["not"] else "")


_WORDY = re.compile(
    r"%s(?P<words>%s)%s(?P<after>[ ]?)" % (_LEFT, "|".join(sorted(SHORTER, key=len, reverse=True)), _RIGHT),
    re.IGNORECASE,
)


def _shorten_phrases(text):
    def shorter(match):
        capital = CAPITAL_NEXT if match["words"][0].isupper() else ""
        short = SHORTER[match["words"].lower()]
        return capital + (short + match["after"] if short else "")

    return _WORDY.sub(shorter, text)


_CAPITAL = re.compile(CAPITAL_NEXT + r"+(\w?)")


def _finish(text):
    """Ends requests with a full stop instead of a question mark, and puts capitals where words went away."""
    text = _ANSWERED.sub(r"\1.", text).replace(WAS_REQUEST, "")
    return _CAPITAL.sub(lambda match: match[1].upper() if len(match[1].upper()) == 1 else match[1], text)


# --- articles --------------------------------------------------------------------------------------------

_ARTICLE = re.compile(
    r"%s(?:a|an|the) (?!(?:%s)\b)(?=[^\W\d_]{2})" % (_LEFT, "|".join(KEEPS_ARTICLE)), re.IGNORECASE
)
_NAMED_BEFORE = re.compile(r"\b(?:%s) \Z" % "|".join(KEEPS_LETTER), re.IGNORECASE)
_WORD = re.compile(r"[^\W\d_]+")


def _drop_articles(text):
    lines = (line if _looks_foreign(line) else _ARTICLE.sub(_without_article, line) for line in text.split("\n"))
    return "\n".join(lines)


def _without_article(match):
    before = match.string[max(0, match.start() - 12) : match.start()]
    next_is_capital = match.string[match.end()].isupper()
    # "The Beatles", "plan A failed": part of a name.
    if _NAMED_BEFORE.search(before) or (match[0][0].isupper() and next_is_capital):
        return match[0]
    return CAPITAL_NEXT if match[0][0].isupper() else ""


def _looks_foreign(line):
    words = [word.lower() for word in _WORD.findall(line)]
    return sum(word in FOREIGN for word in words) > sum(word in ENGLISH for word in words)


# --- repeated sentences ----------------------------------------------------------------------------------

# In lists, tables, headings, quotes and labelled lines a repetition carries meaning.
_STRUCTURED = re.compile(r"\s*(?:[-*+•#|>]|\d+[.)]|[A-Za-z][^\s:]{0,30}(?: [^\s:]{1,20}){0,2}:)")
_SENTENCE_END = re.compile(
    "((?<=[.!?])[ ]+(?=[^\\Wa-z_]|[%s%s%s(])|(?<=[。！？]))" % (SHELF_OPEN, CAPITAL_NEXT, WAS_REQUEST)
)
_ABBREVIATION = re.compile(r"(?:\b(?:Dr|Mr|Mrs|Ms|Prof|St|Jr|Sr|No|Fig|vs|etc|approx|Inc|Ltd)|\b\w|\.\w{1,4})\.\Z")
_OUR_MARKS = re.compile("[%s%s]" % (CAPITAL_NEXT, WAS_REQUEST))


def _drop_repeated_sentences(text):
    seen = set()
    lines = (line if _STRUCTURED.match(line) else _without_repeated(line, seen) for line in text.split("\n"))
    return "\n".join(lines)


def _without_repeated(line, seen):
    kept = []
    for sentence in _sentences(line):
        key = " ".join(_OUR_MARKS.sub("", sentence).casefold().split())
        if _is_long_enough(key):
            if key in seen:
                continue
            seen.add(key)
        kept.append(sentence)
    return "".join(kept)


def _sentences(line):
    """The line in pieces, each with the space after it. Abbreviations do not end a sentence."""
    pieces = _SENTENCE_END.split(line)
    current = []
    for index in range(0, len(pieces), 2):
        current += pieces[index : index + 2]
        if not _ABBREVIATION.search(pieces[index][-8:]):
            yield "".join(current)
            current = []
    if current:
        yield "".join(current)


def _is_long_enough(key):
    """Short pieces repeat for good reasons ("Yes."), and may be half a sentence."""
    return key.count(" ") >= 3 or (len(key) >= 8 and not key.isascii() and " " not in key)


# --- token estimate --------------------------------------------------------------------------------------

_TOKEN = re.compile(
    r"(?P<latin>[A-Za-z]+)|(?P<wide>[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af])|(?P<number>\d+)"
    r"|(?P<other>[^\W\d_A-Za-z\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]+)|\n+|[^\S\n]{2,}|[^\w\s]|_"
)


def estimate_tokens(text):
    """Estimates tokens as described in instructions.md. At least one."""
    total = 0
    for match in _TOKEN.finditer(text):
        kind, length = match.lastgroup, match.end() - match.start()
        if kind == "latin":
            total += 1 + max(0, length - 3) // 5
        elif kind in ("number", "other"):
            total += (length + 2) // 3
        else:
            total += 1
    return max(1, total)

"""Counts of a text. Its twins text/word_stats_* in other languages give the same bytes, so it takes nothing from the Unicode
tables of its interpreter, which differ from version to version, and everything from letters.py."""

from letters import facts_of

DEFAULT_TOP = 10
REPLACEMENT = 0xFFFD
LF, CR = 0x0A, 0x0D
APOSTROPHES = (0x27, 0x2019)
# ! . ? Arabic question mark, danda, ellipsis: end a sentence unless a letter follows, as in 3.14.
STOPS = {0x21, 0x2E, 0x3F, 0x61F, 0x964, 0x2026}
# Ideographic full stop, fullwidth ! and ?: always end one.
WIDE_STOPS = {0x3002, 0xFF01, 0xFF1F}
END = -1


def execute(params):
    text, top = params.get("text"), params.get("top", DEFAULT_TOP)
    if not isinstance(text, str):
        raise ValueError("text must be a text")
    return count(code_points(text), top)


def code_points(text):
    """Half of a surrogate pair alone is no character: it counts as U+FFFD."""
    joined = text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return [ord(letter) for letter in joined]


def count(points, top):
    words = sentences = lines = at = 0
    by_word = {}
    open_sentence = False
    while at < len(points):
        point = points[at]
        if facts_of(point)[0]:
            end = end_of_word(points, at)
            word = "".join([facts_of(one)[2] for one in points[at:end]])
            words += 1
            by_word[word] = by_word.get(word, 0) + 1
            open_sentence = True
            at = end
            continue
        following = points[at + 1] if at + 1 < len(points) else END
        if open_sentence and ends_sentence(point, following):
            sentences += 1
            open_sentence = False
        if point == LF or (point == CR and following != LF):
            lines += 1
        at += 1
    if points and points[-1] not in (LF, CR):
        lines += 1
    ranked = sorted(by_word.items(), key=lambda item: (-item[1], item[0]))[:top]
    return {
        "characters": len(points),
        "words": words,
        "unique_words": len(by_word),
        "sentences": sentences + open_sentence,
        "lines": lines,
        "top_words": [{"word": word, "count": number} for word, number in ranked],
        "reading_time_seconds": (words * 3 + 9) // 10,
    }


def end_of_word(points, start):
    """Letters and digits, the marks on them, and apostrophes between two of them."""
    end = start + 1
    while end < len(points):
        is_letter, is_mark, _ = facts_of(points[end])
        if not is_letter and not is_mark:
            inside = points[end] in APOSTROPHES and end + 1 < len(points) and facts_of(points[end + 1])[0]
            if not inside:
                break
        end += 1
    return end


def ends_sentence(point, following):
    if point in STOPS:
        return following == END or not facts_of(following)[0]
    return point in WIDE_STOPS

"""Finds articles by BM25 over summaries that are held in memory. Standard library only, no randomness."""

import math
import re
from collections import Counter

from corpus import ARTICLES, NOTICE, RANGES, SOURCE, SYNONYMS, TITLES

# A word of the heading says more about an article than one of the summary.
HEADING_WEIGHT = 3
# What a synonym counts beside the word that was asked for.
SYNONYM_WEIGHT = 0.6
K1, B = 1.4, 0.6
STOP_WORDS = set(
    "a about after all also an and any are as at be been before by can could do does each for from had has have how i if"
    " in into is it its may me might more must my need needs no not of on one or other our out over own should so some"
    " such than that the their them then there these they this those to under up us was we were what when where which"
    " while who whom why will with would you your mica regulation article eu crypto asset-s".split()
)


def execute(params):
    query, number, title = params.get("query"), params.get("article"), params.get("title")
    if (query is None) == (number is None):
        raise ValueError("give either query or article")
    if number is not None:
        return answer(by_number(number, title))
    if not isinstance(query, str) or query.strip() == "":
        raise ValueError("query must not be empty")
    return answer(INDEX.search(query, title)[: params.get("top", 5)])


def answer(matches):
    return {"matches": matches, "notice": NOTICE, "source": SOURCE}


def by_number(number, title):
    for entry in INDEX.entries:
        if entry["article"] == number:
            if title not in (None, entry["title"]):
                raise ValueError("article %d is in title %s, not %s" % (number, entry["title"], title))
            return [{**entry, "score": None, "matched": []}]
    known = [entry["article"] for entry in INDEX.entries]
    below = max((one for one in known if one < number), default=None)
    above = min((one for one in known if one > number), default=None)
    near = " and ".join("Article %d" % one for one in (below, above) if one is not None)
    raise LookupError("there is no summary of Article %d (title %s) here; the nearest are %s" % (number, title_of(number), near))


def title_of(number):
    return next(title for title, (first, last) in RANGES.items() if first <= number <= last)


def words_of(text):
    """Words without endings that English adds, so that tokens and token are one."""
    found = re.findall(r"[a-z0-9]+(?:-[a-z0-9]+)*", text.lower().replace("’", "'"))
    return [stem(word) for word in found if word not in STOP_WORDS]


def stem(word):
    for ending, least in (("ations", 6), ("ation", 6), ("ings", 5), ("ing", 5), ("ies", 4), ("ers", 5), ("er", 5), ("ed", 5), ("es", 4), ("s", 4), ("e", 4)):
        if word.endswith(ending) and len(word) >= least + 1 and not word.endswith("ss"):
            return word[: -len(ending)] + ("y" if ending == "ies" else "")
    return word


class Index:
    """Made once, when the module is loaded: a cell starts with it in memory."""

    def __init__(self):
        self.entries = [
            {"article": number, "heading": heading, "title": title_of(number), "title_name": TITLES[title_of(number)], "summary": summary}
            for number, heading, summary in ARTICLES
        ]
        self.counts = [
            Counter(words_of(entry["summary"]) + words_of(entry["heading"]) * HEADING_WEIGHT) for entry in self.entries
        ]
        self.lengths = [sum(counts.values()) for counts in self.counts]
        self.average = sum(self.lengths) / len(self.lengths)
        self.documents = Counter(word for counts in self.counts for word in counts)
        self.synonyms = {stem(word): [stem(one) for one in others] for word, others in SYNONYMS.items()}

    def search(self, query, title):
        wanted = self.weights(query)
        ranked = []
        for entry, counts, length in zip(self.entries, self.counts, self.lengths):
            if title not in (None, entry["title"]):
                continue
            matched = [word for word in wanted if counts[word]]
            score = sum(wanted[word] * self.value(word, counts[word], length) for word in matched)
            if score > 0:
                ranked.append({**entry, "score": round(score, 3), "matched": sorted(matched)})
        ranked.sort(key=lambda one: (-one["score"], one["article"]))
        return ranked

    def weights(self, query):
        wanted = {}
        for word in words_of(query):
            wanted[word] = 1.0
            # A word that no summary has can only be meant by its synonyms.
            weight = SYNONYM_WEIGHT if word in self.documents else 1.0
            for other in self.synonyms.get(word, []):
                wanted.setdefault(other, weight)
        return wanted

    def value(self, word, count, length):
        total, having = len(self.entries), self.documents[word]
        rarity = math.log(1 + (total - having + 0.5) / (having + 0.5))
        return rarity * count * (K1 + 1) / (count + K1 * (1 - B + B * length / self.average))


INDEX = Index()

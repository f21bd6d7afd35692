"""What one column holds: types, ranges, frequent values."""

import math
import re
from collections import Counter
from datetime import date

# Beyond this many different values a count would cost more than it tells.
MAX_DISTINCT = 10_000
LONGEST_SHOWN = 80
MISSING = {"", "na", "n/a", "null", "none", "nan", "-"}
BOOLEANS = {"true", "false", "yes", "no"}
_INTEGER = re.compile(r"[-+]?\d{1,18}")
_NUMBER = re.compile(r"[-+]?(?:\d+\.\d*|\.\d+|\d+)(?:[eE][-+]?\d{1,3})?")
_DATE = re.compile(r"(\d{4})-(\d{2})-(\d{2})(?:[T ]\d{2}:\d{2}(?::\d{2}(?:\.\d+)?)?(?:Z|[-+]\d{2}:?\d{2})?)?")


class Column:
    def __init__(self, name):
        self.name = name
        self.missing = 0
        self.types = Counter()
        self.values = Counter()
        self.overflow = False
        self.numbers = 0
        self.mean = 0.0
        self.spread = 0.0
        self.lowest = self.highest = None
        self.first_date = self.last_date = None
        self.longest = 0
        self.padded = 0

    def add(self, raw):
        value = raw.strip()
        if value.lower() in MISSING:
            self.missing += 1
            return
        self.padded += value != raw
        self.count(value)
        kind = type_of(value)
        self.types[kind] += 1
        if kind in ("integer", "number"):
            self.add_number(float(value))
        elif kind == "date":
            self.first_date = min(self.first_date or value, value)
            self.last_date = max(self.last_date or value, value)
        self.longest = max(self.longest, len(value))

    def count(self, value):
        if value in self.values or len(self.values) < MAX_DISTINCT:
            self.values[value] += 1
        else:
            self.overflow = True

    def add_number(self, number):
        """Welford's method: one pass, and no sum that loses small values beside large ones."""
        if not math.isfinite(number):
            return
        self.numbers += 1
        distance = number - self.mean
        self.mean += distance / self.numbers
        self.spread += distance * (number - self.mean)
        self.lowest = number if self.lowest is None else min(self.lowest, number)
        self.highest = number if self.highest is None else max(self.highest, number)

    def type(self):
        kinds = set(self.types)
        if not kinds:
            return "empty"
        if kinds <= {"integer", "number"}:
            return "number" if "number" in kinds else "integer"
        return kinds.pop() if len(kinds) == 1 else "text" if "text" in kinds else "mixed"

    def problems(self):
        present = sum(self.types.values())
        usual, count = self.types.most_common(1)[0] if present else ("", 0)
        found = []
        if usual != "text" and self.type() in ("text", "mixed") and count < present and count >= present * 0.8:
            odd = next(value for value in self.values if type_of(value) not in (usual, "integer" if usual == "number" else usual))
            found.append("column %r is %s but for %d values such as %r" % (self.name, usual, present - count, odd[:LONGEST_SHOWN]))
        if self.padded:
            found.append("column %r has blanks around %d values" % (self.name, self.padded))
        if present == 0:
            found.append("column %r has no values" % self.name)
        return found

    def describe(self, top):
        kind = self.type()
        result = {"name": self.name, "type": kind, "missing": self.missing, "distinct": len(self.values)}
        if self.overflow:
            result["distinct_is_at_least"] = True
        if kind in ("integer", "number") and self.numbers:
            result.update(min=plain(self.lowest), max=plain(self.highest), mean=rounded(self.mean))
            result["deviation"] = rounded(math.sqrt(self.spread / self.numbers))
        elif kind == "date":
            result.update(min=self.first_date, max=self.last_date)
        elif kind == "text":
            result["longest"] = self.longest
        ranked = sorted(self.values.items(), key=lambda item: (-item[1], item[0]))[:top]
        result["top_values"] = [{"value": value[:LONGEST_SHOWN], "count": count} for value, count in ranked]
        return result


def type_of(value):
    if _INTEGER.fullmatch(value):
        # Codes such as 00123 are no numbers: the zeros would get lost.
        return "text" if re.match(r"[-+]?0\d", value) else "integer"
    if _NUMBER.fullmatch(value):
        return "number"
    match = _DATE.fullmatch(value)
    if match and is_date(*match.group(1, 2, 3)):
        return "date"
    return "boolean" if value.lower() in BOOLEANS else "text"


def is_date(year, month, day):
    try:
        date(int(year), int(month), int(day))
        return True
    except ValueError:
        return False


def plain(number):
    return int(number) if number == int(number) and abs(number) < 2**53 else number


def rounded(number):
    return plain(float("%.6g" % number))

"""What Unicode says about characters, read from the strings of unicode_tables.py: numbers in digits of 5 bits, lowest first,
the sixth bit says that more follow."""

from bisect import bisect_right
from functools import lru_cache

from unicode_tables import LETTERS, LOWER, MARKS

_DIGITS = {digit: at for at, digit in enumerate("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_")}


def _numbers(table):
    numbers, value, shift = [], 0, 0
    for character in table:
        digit = _DIGITS[character]
        value |= (digit & 31) << shift
        shift += 5
        if digit < 32:
            numbers.append(value)
            value = shift = 0
    return numbers


def _ranges(table):
    """Pairs: gap since the end of the range before, length."""
    numbers = _numbers(table)
    starts, lasts, end = [], [], 0
    for gap, length in zip(numbers[::2], numbers[1::2]):
        starts.append(end + gap)
        end += gap + length
        lasts.append(end - 1)
    return starts, lasts


def _lower_runs(table):
    """Triples: gap, twice the count and one more for every second, twice the distance and one more for downwards."""
    numbers = _numbers(table)
    starts, runs, end = [], [], 0
    for gap, shape, distance in zip(numbers[::3], numbers[1::3], numbers[2::3]):
        start, step = end + gap, 1 + (shape & 1)
        last = start + ((shape >> 1) - 1) * step
        starts.append(start)
        runs.append((last, step, -(distance >> 1) if distance & 1 else distance >> 1))
        end = last + 1
    return starts, runs


_LETTERS, _MARKS, _LOWER = _ranges(LETTERS), _ranges(MARKS), _lower_runs(LOWER)


def _contains(ranges, point):
    starts, lasts = ranges
    at = bisect_right(starts, point) - 1
    return at >= 0 and point <= lasts[at]


def _lower(point):
    starts, runs = _LOWER
    at = bisect_right(starts, point) - 1
    if at < 0:
        return point
    last, step, delta = runs[at]
    return point + delta if point <= last and (point - starts[at]) % step == 0 else point


@lru_cache(maxsize=4096)
def facts_of(point):
    """Is it a letter, is it a mark, and its lower case; one apostrophe stands for both."""
    lower = "'" if point == 0x2019 else chr(_lower(point))
    return _contains(_LETTERS, point), _contains(_MARKS, point), lower

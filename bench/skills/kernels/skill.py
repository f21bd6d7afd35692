"""Work of different kinds. The first four are the interpreter's own, the others are C code that it calls."""

import hashlib
import json
import random
import re


def calls(size):
    """Function calls and small integers."""

    def fibonacci(n):
        return n if n < 2 else fibonacci(n - 1) + fibonacci(n - 2)

    return fibonacci(size)


def floats(size):
    """A loop over floats: points of the Mandelbrot set."""
    inside = 0
    for row in range(size):
        for column in range(size):
            x0, y0 = 3.0 * column / size - 2.0, 2.0 * row / size - 1.0
            x, y, step = 0.0, 0.0, 0
            while x * x + y * y <= 4.0 and step < 50:
                x, y, step = x * x - y * y + x0, 2.0 * x * y + y0, step + 1
            inside += step == 50
    return inside


def words(size):
    """Texts and dicts: counts words."""
    text = "the quick brown fox jumps over the lazy dog while the cat sleeps " * size
    counts = {}
    for word in text.split():
        word = word.strip(".,").capitalize()
        counts[word] = counts.get(word, 0) + 1
    return sorted(counts.items(), key=lambda item: (-item[1], item[0]))[:3]


def sort(size):
    """Sorts with a key that is a function."""
    numbers = random.Random(7)
    items = [(numbers.random(), at) for at in range(size)]
    return sorted(items, key=lambda item: -item[0])[0][1]


def json_round_trip(size):
    """Writes and reads JSON."""
    rows = [{"id": at, "name": "row %d" % at, "tags": ["a", "b"], "value": at / 7} for at in range(size)]
    return len(json.dumps(json.loads(json.dumps(rows))))


def regex(size):
    """Searches a text."""
    text = "mail to jo@example.com or call +44 20 7946 0000 before 2026-11-15, please. " * size
    pattern = re.compile(r"[\w.]+@[\w.]+\.\w+|\+\d[\d ]+\d|\d{4}-\d\d-\d\d")
    return len(pattern.findall(text))


def sha256(size):
    """Hashes a text many times."""
    digest = b"seed"
    for _ in range(size):
        digest = hashlib.sha256(digest * 32).digest()
    return digest.hex()


def bigint(size):
    """Numbers of thousands of digits."""
    number = 3**size
    return str(number * number % (10**40))


KERNELS = {
    "calls": calls,
    "floats": floats,
    "words": words,
    "sort": sort,
    "json": json_round_trip,
    "regex": regex,
    "sha256": sha256,
    "bigint": bigint,
}


def execute(params):
    return {"answer": str(KERNELS[params["kernel"]](params["size"]))}

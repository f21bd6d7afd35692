"""Prints the sum of every numeric column of a CSV file."""

import csv
import sys


def main(path):
    with open(path, newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    for name in rows[0]:
        try:
            print(name, sum(float(row[name]) for row in rows))
        except ValueError:
            print(name, "is not a number", file=sys.stderr)


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("usage: sums.py FILE")
    main(sys.argv[1])

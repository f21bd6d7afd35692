"""Describes CSV files of the workspace. Standard library only; reads row by row, so size matters little."""

import csv
import os
import re

from columns import Column

WORKSPACE = "/workspace"
DELIMITERS = [",", ";", "\t", "|"]
SAMPLE_BYTES = 64 * 1024
MAX_LISTED = 200
MAX_COLUMNS = 500
MAX_PROBLEMS = 20
# A field may hold a whole document; the default of the csv module is smaller.
csv.field_size_limit(1024 * 1024)


def execute(params):
    path = params.get("path")
    if path is None:
        return {"files": list_files()}
    file = inside_workspace(path)
    encoding = encoding_of(first_bytes(file, path))
    with open(file, encoding=encoding, errors="replace", newline="") as lines:
        delimiter = params.get("delimiter") or find_delimiter(lines.read(SAMPLE_BYTES))
        lines.seek(0)
        profile = Profile(params)
        profile.read(csv.reader(lines, delimiter=delimiter))
    return {"path": path, "delimiter": delimiter, "encoding": encoding, **profile.result()}


def inside_workspace(path):
    """Paths out of the workspace would be denied by the cell; a clear message is better than a denial."""
    parts = path.split("/")
    if path.startswith("/") or "\\" in path or any(part in ("", ".", "..") for part in parts):
        raise ValueError("path must name a file inside the workspace, such as tables/sales.csv")
    return os.path.join(WORKSPACE, *parts)


def list_files():
    found = []
    for folder, folders, names in os.walk(WORKSPACE):
        folders.sort()
        for name in sorted(names):
            if name.lower().endswith((".csv", ".tsv")):
                file = os.path.join(folder, name)
                found.append({"path": os.path.relpath(file, WORKSPACE), "bytes": os.path.getsize(file)})
    return sorted(found, key=lambda one: one["path"])[:MAX_LISTED]


def first_bytes(file, path):
    try:
        with open(file, "rb") as data:
            return data.read(SAMPLE_BYTES)
    except PermissionError:
        # A denial is for the caller to see as such.
        raise
    except (FileNotFoundError, IsADirectoryError, NotADirectoryError):
        raise FileNotFoundError("the workspace has no file %r; call without path to list its files" % path) from None


def encoding_of(sample):
    if b"\x00" in sample and not sample.startswith((b"\xff\xfe", b"\xfe\xff")):
        raise ValueError("the file is binary, or text in an unusual encoding")
    if sample.startswith((b"\xff\xfe", b"\xfe\xff")):
        return "utf-16"
    if sample.startswith(b"\xef\xbb\xbf"):
        return "utf-8-sig"
    try:
        # The sample may end in the middle of a character.
        sample[: max(0, len(sample) - 3)].decode("utf-8")
        return "utf-8"
    except UnicodeDecodeError:
        return "cp1252"


def find_delimiter(sample):
    """The separator that splits the first rows into the same number of fields, the larger the better."""
    lines = [line for line in sample.splitlines()[:50] if line.strip()]
    best, best_score = ",", 0.0
    for delimiter in DELIMITERS:
        widths = [len(row) for row in csv.reader(lines, delimiter=delimiter)]
        usual = max(set(widths), key=lambda width: (widths.count(width), width)) if widths else 1
        score = widths.count(usual) / len(widths) * (usual - 1) if widths else 0.0
        if score > best_score:
            best, best_score = delimiter, score
    return best


class Profile:
    def __init__(self, params):
        self.has_header = params.get("has_header", True)
        self.max_rows = params.get("max_rows", 200_000)
        self.top = params.get("top", 3)
        self.columns = []
        self.rows = 0
        self.truncated = False
        self.problems = []
        self.uneven = {}

    def read(self, reader):
        try:
            for number, row in enumerate(reader, 1):
                if not row:
                    continue
                if not self.columns:
                    self.begin(row)
                    if self.has_header:
                        continue
                if self.rows == self.max_rows:
                    self.truncated = True
                    break
                self.add(row, reader.line_num)
        except csv.Error as error:
            self.note("reading stopped in line %d: %s" % (reader.line_num, error))

    def begin(self, row):
        if len(row) > MAX_COLUMNS:
            raise ValueError("the file has %d columns, more than %d" % (len(row), MAX_COLUMNS))
        names = [name.strip() for name in row] if self.has_header else ["column %d" % at for at in range(1, len(row) + 1)]
        for at, name in enumerate(names, 1):
            if name == "":
                self.note("column %d has no name" % at)
            elif names.index(name) != at - 1:
                self.note("the column name %r is there more than once" % name)
        if self.has_header and any(re.fullmatch(r"-?\d+(\.\d+)?", name) for name in names):
            self.note("the header has numbers in it; if it is no header, set has_header to false")
        self.columns = [Column(name) for name in names]

    def add(self, row, line):
        self.rows += 1
        if len(row) != len(self.columns):
            self.uneven.setdefault(len(row), line)
        for column, value in zip(self.columns, row):
            column.add(value)

    def note(self, text):
        if len(self.problems) < MAX_PROBLEMS and text not in self.problems:
            self.problems.append(text)

    def result(self):
        for width, line in sorted(self.uneven.items()):
            self.note("rows with %d fields instead of %d, the first in line %d" % (width, len(self.columns), line))
        for column in self.columns:
            for text in column.problems():
                self.note(text)
        return {
            "rows": self.rows,
            "truncated": self.truncated,
            "columns": [column.describe(self.top) for column in self.columns],
            "problems": self.problems,
        }

"""Tests of the CSV profile. Run: python3 -m unittest test_skill (in this folder)."""

import sys
import tempfile
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

import columns  # noqa: E402
import skill  # noqa: E402


class Files(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.before, skill.WORKSPACE = skill.WORKSPACE, self.folder.name
        self.addCleanup(self.folder.cleanup)
        self.addCleanup(setattr, skill, "WORKSPACE", self.before)

    def profile(self, data, **params):
        (Path(self.folder.name) / "a.csv").write_bytes(data if isinstance(data, bytes) else data.encode())
        return skill.execute({"path": "a.csv", **params})

    def column(self, data, **params):
        return self.profile(data, **params)["columns"][0]

    def test_delimiters(self):
        for delimiter in skill.DELIMITERS:
            rows = ["a,b".replace(",", delimiter), '"x,;|\ty",2'.replace('",', '"' + delimiter), "z,3".replace(",", delimiter)]
            result = self.profile("\n".join(rows))
            self.assertEqual((result["delimiter"], len(result["columns"])), (delimiter, 2))

    def test_encodings(self):
        for encoding in ["utf-8", "utf-8-sig", "utf-16", "cp1252"]:
            result = self.profile("näme,b\nÄ,1\nÖ,2\n".encode(encoding))
            self.assertEqual((result["columns"][0]["name"], result["encoding"]), ("näme", encoding))

    def test_types(self):
        for values, expected in [
            (["1", "-2"], "integer"), (["1", "2.5", "1e3"], "number"), (["2026-01-02", "2026-01-02T10:00Z"], "date"),
            (["2026-13-01"], "text"), (["yes", "No"], "boolean"), (["007"], "text"), (["", "n/a"], "empty"),
            (["1", "yes"], "mixed"), (["1", "x"], "text"), (["9" * 30], "number"),
        ]:  # fmt: skip
            self.assertEqual(self.column("a\n" + "\n".join(value or '""' for value in values) + "\n")["type"], expected, values)

    def test_numbers(self):
        found = self.column("a\n1\n2\n3\n4\n")
        self.assertEqual((found["min"], found["max"], found["mean"], found["deviation"]), (1, 4, 2.5, 1.11803))

    def test_problems(self):
        text = "a,a,\n" + "1,x,1\n" * 9 + "oops,x,1\n1,2\n"
        problems = "\n".join(self.profile(text)["problems"])
        for part in ["'a' is there more than once", "column 3 has no name", "rows with 2 fields instead of 3", "'oops'"]:
            self.assertIn(part, problems)

    def test_without_header_and_cut(self):
        result = self.profile("1,2\n3,4\n5,6\n", has_header=False, max_rows=2)
        self.assertEqual((result["rows"], result["truncated"], result["columns"][1]["name"]), (2, True, "column 2"))

    def test_empty_and_broken_files(self):
        self.assertEqual(self.profile("")["columns"], [])
        self.assertEqual(self.profile('a\n"never closed')["rows"], 1)
        with self.assertRaises(ValueError):
            self.profile(b"\x00\x01\x02")
        with self.assertRaises(ValueError):
            self.profile(",".join(["a"] * 501))

    def test_paths(self):
        for path in ["/etc/passwd", "../a.csv", "a//b.csv", "./a.csv", "a\\b.csv", ""]:
            with self.assertRaises(ValueError):
                skill.execute({"path": path})
        with self.assertRaises(FileNotFoundError):
            skill.execute({"path": "none.csv"})

    def test_many_distinct_values(self):
        found = self.column("a\n" + "".join("v%d\n" % at for at in range(columns.MAX_DISTINCT + 5)))
        self.assertEqual((found["distinct"], found["distinct_is_at_least"]), (columns.MAX_DISTINCT, True))


if __name__ == "__main__":
    unittest.main()

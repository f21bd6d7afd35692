"""Tests of the example skill. Run: python3 -m unittest test_skill (in this folder)."""

import json
import subprocess
import sys
import unittest
from pathlib import Path

FOLDER = Path(__file__).resolve().parent
sys.path.insert(0, str(FOLDER))

import skill  # noqa: E402


def statuses(params):
    return {one["field"]: one["status"] for one in skill.execute(params)["fields"]}


class Report(unittest.TestCase):
    def test_every_status(self):
        record = {"text": "x", "zero": 0, "no": False, "blank": " \t", "list": [], "group": {}, "null": None, "todo": " ToDo "}
        filled, empty = "filled", "empty"
        expected = dict(text=filled, zero=filled, no=filled, blank=empty, list=empty, group=empty, null=empty)
        self.assertEqual(statuses(record), {**expected, "todo": "placeholder"})

    def test_required_fields_alone_decide(self):
        report = skill.execute({"name": "Ada", "note": "", "required": ["name"]})
        self.assertTrue(report["complete"])
        self.assertEqual(report["record"], {"name": "Ada", "note": ""})
        self.assertFalse(skill.execute({"name": "Ada", "required": ["name", "country"]})["complete"])

    def test_a_name_that_is_required_twice_is_reported_once(self):
        self.assertEqual(skill.execute({"required": ["a", "a"]})["problems"], ['"a" is missing'])

    def test_the_same_record_gives_the_same_report(self):
        record = {"b": 1, "a": ["x"], "required": ["c", "a"]}
        self.assertEqual(skill.execute(record), skill.execute(dict(record)))

    def test_speaks_json_on_its_own(self):
        command = [sys.executable, "-I", str(FOLDER / "skill.py")]
        done = subprocess.run(command, input='{"key": "value"}', capture_output=True, text=True, check=True)
        self.assertEqual(json.loads(done.stdout), skill.execute({"key": "value"}))


if __name__ == "__main__":
    unittest.main()

"""What this client repeats of Skillcell is the same there."""

import unittest

from skillcell import ERROR_CODES
from skillcell._names import tool_name
from skillcell._version import VERSION
from support import STAGE


class Vocabulary(unittest.TestCase):
    def test_has_the_error_codes_of_skillcell(self) -> None:
        self.assertEqual(list(ERROR_CODES), STAGE["codes"])

    def test_has_the_version_of_skillcell(self) -> None:
        self.assertEqual(VERSION, STAGE["version"])

    def test_spells_tools_as_skillcell_does(self) -> None:
        self.assertGreater(len(STAGE["names"]), 5)
        for skill, tool in STAGE["names"].items():
            self.assertEqual(tool_name(skill), tool)


if __name__ == "__main__":
    unittest.main()

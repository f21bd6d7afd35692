"""Tests of the wallet screening, offline. Run: python3 -m unittest test_skill (in this folder)."""

import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

import addresses  # noqa: E402
import chain  # noqa: E402
import skill  # noqa: E402

# Test vectors of EIP-55, BIP-173, BIP-350 and the first address of Bitcoin.
GOOD = {
    "0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed": ("ethereum", "valid"),
    "0xfB6916095ca1df60bB79Ce92cE3Ea74c37c5d359": ("ethereum", "valid"),
    "0xfb6916095ca1df60bb79ce92ce3ea74c37c5d359": ("ethereum", "absent"),
    "1A1zP1eP5QGefi2DMPTfTL5SLmv7DivfNa": ("bitcoin", "valid"),
    "3J98t1WpEZ73CNmQviecrnyiWrnqRhWNLy": ("bitcoin", "valid"),
    "BC1QW508D6QEJXTDG4Y5R3ZARVARY0C5XW7KV8F3T4": ("bitcoin", "valid"),
    "bc1p0xlxvlhemja6c4dqv22uapctqupfhlxm9h8z3k2e72q4k9hcz7vqzk5jj0": ("bitcoin", "valid"),
}
BAD = [
    "", "hello", "0x123", "0x" + "g" * 40, "0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAeD", "1A1zP1eP5QGefi2DMPTfTL5SLmv7DivfNb",
    "1A1zP1eP5QGefi2DMPTfTL5SLmv7DivfN0", "bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t5", "bc1QW508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4",
    "bc1", "bc1zw508d6qejxtdg4y5r3zarvaryvqyzf3du", "0x" + "1" * 41, "1" * 200,
]  # fmt: skip


class Addresses(unittest.TestCase):
    def test_good_ones(self):
        for text, expected in GOOD.items():
            found = addresses.describe(text)
            self.assertEqual((found["chain"], found["checksum"]), expected, text)

    def test_bad_ones(self):
        for text in BAD:
            with self.subTest(text=text), self.assertRaises(addresses.NoAddress):
                addresses.describe(text)

    def test_any_single_mistake_is_found(self):
        for text in ["1A1zP1eP5QGefi2DMPTfTL5SLmv7DivfNa", "bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4"]:
            for place in range(1, len(text)):
                wrong = text[:place] + ("q" if text[place] != "q" else "p") + text[place + 1 :]
                with self.assertRaises(addresses.NoAddress):
                    addresses.describe(wrong)

    def test_keccak(self):
        self.assertEqual(addresses.keccak256(b"").hex(), "c5d2460186f7233c927e7db2dcc703c0e500b653ca82273b7bfad8045d85a470")
        self.assertEqual(addresses.keccak256(b"testing").hex(), "5f16f4c7f149ac4f9510d9cf8cf384038ad348b3bcdc01915f95de12df9d1b02")
        # A whole block, which needs a block of padding.
        self.assertEqual(addresses.keccak256(b"a" * 136).hex(), "a6c4d403279fe3e0af03729caada8374b5ca54d8065329a3ebcaeb4b60aa386e")


class Verdicts(unittest.TestCase):
    def test_lists(self):
        for text, verdict in [
            ("0x00000000000000000000000000000000badc0ffe", "blocked"),
            ("0x000000000000000000000000000000000000dead", "review"),
            ("1BitcoinEaterAddressDontSendf59kuE", "review"),
            ("0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed", "clear"),
        ]:
            result = skill.execute({"address": text})
            self.assertEqual(result["verdict"], verdict, text)
            self.assertIn(skill.NO_LIST_IS_WHOLE, result["notes"])

    def test_live_without_a_key(self):
        with self.assertRaises(chain.ChainError):
            skill.execute({"address": "0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed", "live": True})
        with self.assertRaises(ValueError):
            skill.execute({"address": "1A1zP1eP5QGefi2DMPTfTL5SLmv7DivfNa", "live": True})

    def test_a_counterparty_is_reviewed_and_not_blocked(self):
        hit = {"severity": "block", "relation": "counterparty in 1 of the latest transactions"}
        self.assertEqual(skill.verdict_of([hit]), "review")


if __name__ == "__main__":
    unittest.main()

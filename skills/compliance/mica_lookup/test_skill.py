"""Tests of the MiCA lookup. Run: python3 -m unittest test_skill (in this folder)."""

import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

import corpus  # noqa: E402
import skill  # noqa: E402

# A question, and an article that must be among the first three.
QUESTIONS = [
    ("Do I need a licence to run a crypto exchange in Germany?", 59),
    ("Who may offer e-money tokens to the public?", 48),
    ("Can holders of an e-money token redeem at par?", 49),
    ("May I pay yield on asset-referenced tokens?", 40),
    ("How much capital does a custody provider need?", 67),
    ("What must a whitepaper contain?", 6),
    ("right of withdrawal of retail holders", 13),
    ("reverse solicitation by a third-country firm", 61),
    ("insider trading ban", 89),
    ("pump and dump", 91),
    ("Are NFTs covered?", 2),
    ("When does MiCA apply, entry into force?", 149),
    ("transitional period for existing providers", 143),
    ("which fines are there", 111),
    ("outsourcing of services", 73),
    ("who is liable for lost private keys in custody", 75),
    ("suitability of advice", 81),
    ("passport services to another Member State", 65),
    ("significant token criteria 10 million holders", 43),
    ("advertising rules before publication", 7),
]


def numbers(query, **more):
    return [match["article"] for match in skill.execute({"query": query, **more})["matches"]]


class Search(unittest.TestCase):
    def test_questions_find_their_article(self):
        for query, article in QUESTIONS:
            with self.subTest(query=query):
                self.assertIn(article, numbers(query, top=3))

    def test_title_and_top_narrow(self):
        self.assertTrue(all(59 <= one <= 85 for one in numbers("authorisation", title="V", top=20)))
        self.assertEqual(len(numbers("authorisation", top=2)), 2)

    def test_nothing_fits(self):
        self.assertEqual(numbers("zebra"), [])
        self.assertEqual(numbers("the of and"), [])

    def test_every_answer_says_what_it_is(self):
        for params in [{"query": "zebra"}, {"article": 59}]:
            result = skill.execute(params)
            self.assertIn("no legal advice", result["notice"])
            self.assertIn("2023/1114", result["source"]["regulation"])


class Numbers(unittest.TestCase):
    def test_by_number(self):
        (match,) = skill.execute({"article": 61})["matches"]
        self.assertEqual((match["article"], match["title"]), (61, "V"))

    def test_a_number_without_summary_is_no_answer(self):
        with self.assertRaisesRegex(LookupError, "nearest are Article 119 and Article 131"):
            skill.execute({"article": 125})

    def test_another_title(self):
        with self.assertRaises(ValueError):
            skill.execute({"article": 61, "title": "I"})

    def test_wrong_parameters(self):
        for params in [{}, {"query": "a", "article": 1}, {"query": "  "}]:
            with self.assertRaises(ValueError):
                skill.execute(params)


class Corpus(unittest.TestCase):
    def test_is_in_order_and_whole(self):
        listed = [number for number, _, _ in corpus.ARTICLES]
        self.assertEqual(listed, sorted(set(listed)))
        self.assertEqual([one for one in range(1, 95) if one not in listed], [])
        for number, heading, summary in corpus.ARTICLES:
            self.assertTrue(heading and 40 < len(summary) < 800, number)

    def test_titles_cover_all_articles_once(self):
        covered = [number for first, last in corpus.RANGES.values() for number in range(first, last + 1)]
        self.assertEqual(covered, list(range(1, 150)))


if __name__ == "__main__":
    unittest.main()

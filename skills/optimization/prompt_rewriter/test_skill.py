"""Tests of the prompt rewriter. Run: python3 -m unittest test_skill (in this folder)."""

import random
import re
import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

import skill  # noqa: E402

# Put together from parts: a link in the source would look like a host that this skill talks to.
LINK = "https:" + "//docs.example.com/please/the?a=1&b=the%20very"

PROTECTED = [
    "```python\nplease  =  the(a)\n\n\n\nreally\n```",
    "`in order to  please`",
    '"please,   really the same"',
    "“please,   the very  quote”",
    "'kindly  the thing'",
    LINK,
    "{please the}",
    "{{ the  user }}",
    "${the_a}",
    "<the please>",
    "please.the@example.com",
]


def run(text, level="medium"):
    return skill.execute({"raw_text": text, "compression_aggression": level})


def short(text, level="medium"):
    return run(text, level)["compressed_text"]


class Levels(unittest.TestCase):
    def check(self, text, **expected):
        for level, wanted in expected.items():
            with self.subTest(text=text, level=level):
                self.assertEqual(short(text, level), wanted)

    def test_courtesy(self):
        self.check("Please   could you kindly summarize this", low="Summarize this")
        self.check("Could you please list the files? Thank you in advance!", low="List the files.")
        self.check("Can you list the files?", low="List the files.")
        self.check("Hello, I'd like you to act as a guide, please.", low="Act as a guide.")
        self.check("Sort it, and I would like you to be quick.", low="Sort it, and be quick.")
        self.check("- please sort\n- please sort", low="- sort\n- sort")
        self.check("When done, could you please stop.", low="When done, stop.")

    def test_words_that_only_look_like_courtesy(self):
        for text in ["We aim to please them.", "Can you swim?", "Write a thank you note.", "How can you list it?"]:
            self.check(text, low=text, medium=text)
        self.check("See /usr/please and please-me.txt.", high="See /usr/please and please-me.txt.")

    def test_wordy_phrases_and_filler(self):
        self.check("In order to win, run.", low="In order to win, run.", medium="To win, run.")
        self.check("It is, of course, good. Actually, I like it.", medium="It is good. I like it.")
        self.check("It broke due to the fact that it rained.", medium="It broke because it rained.")

    def test_articles_and_intensifiers_only_at_high(self):
        text = "The report is a very good summary of the book."
        self.check(text, medium=text, high="Report is good summary of book.")
        self.check("Take a few, twice a day; option a is fine.", high="Take a few, twice a day; option a is fine.")
        self.check("El niño va a la escuela.", high="El niño va a la escuela.")

    def test_white_space(self):
        self.check("a \t b  \r\n\r\n\r\n\r\n  c\u00a0\u3000d \n", low="a b\n\n  c d")

    def test_repeated_sentences(self):
        text = "Answer in French only. Be brief. Answer in  French only. Yes. Yes."
        self.check(text, low="Answer in French only. Be brief. Answer in French only. Yes. Yes.")
        self.check(text, medium="Answer in French only. Be brief. Yes. Yes.")
        self.check("请总结这篇文章的内容。请总结这篇文章的内容。", medium="请总结这篇文章的内容。")

    def test_repetition_that_carries_meaning(self):
        for text in [
            "Output: this one is fine\nOutput: this one is fine",
            "- take the first one now\n- take the first one now",
            "I have seen Dr. Who. I have seen Dr. No.",
            "Be here at 5 p.m. today. Be here at 5 p.m. tomorrow.",
        ]:
            self.check(text, medium=text)


class Meaning(unittest.TestCase):
    def test_negations_keep_what_follows(self):
        self.assertEqual(short("I would like you to not use jargon.", "high"), "Do not use jargon.")
        self.assertEqual(short("Could you please not shout?", "high"), "Do not shout.")
        for text in ["Do not simply copy it.", "It isn't really good.", "This is never very clear."]:
            self.assertEqual(short(text, "high"), text)

    def test_protected_parts_survive_every_level(self):
        for part in PROTECTED:
            for level in skill.LEVELS:
                with self.subTest(part=part, level=level):
                    self.assertIn(part, short("Please really  use\n\n%s\n\nin order to win." % part, level))

    def test_indented_code_survives(self):
        code = "    please  =  the(a)\n    if not   really: pass\n"
        self.assertIn(code, short("Please explain:\n\n" + code + "\nThank you.", "high"))

    def test_numbers_negations_and_protected_parts_stay_in_order(self):
        pieces = ["please", "could you kindly", "in order to", "really", "the", "very", "not", "never", "don't",
                  "no", "3.14", "1,000", "-7", "word", "Paris", ",", ".", "?", "\n", "and"]  # fmt: skip
        kept = re.compile(r"\b(?:not|never|don't|no)\b|\d+|" + "|".join(map(re.escape, PROTECTED)))
        rng = random.Random(7)
        for _ in range(400):
            words = [rng.choice(pieces + PROTECTED[1:]) for _ in range(rng.randint(1, 30))]
            text = " ".join(words)
            for level in skill.LEVELS:
                self.assertEqual(kept.findall(short(text, level)), kept.findall(text), (level, text))


class Results(unittest.TestCase):
    def test_counts_fit_together_and_never_grow(self):
        for text in ["Please", "a", "   ", "\u200b", "\x00", "Thanks!", "🙂👩‍👩‍👧", "é" * 9, "\ud800", "the the the"]:
            for level in skill.LEVELS:
                result = run(text, level)
                self.assertNotEqual(result["compressed_text"], "")
                self.assertEqual(result["tokens_saved"], result["original_tokens"] - result["new_tokens"])
                self.assertGreaterEqual(result["tokens_saved"], 0)

    def test_unicode_is_not_broken(self):
        for text in ["👩‍👩‍👧 naïve café", "नमस्ते दुनिया", "ß ist scharf", "e\u0301te\u0301"]:
            self.assertEqual(short(text, "high"), text)

    def test_a_second_run_changes_nothing(self):
        text = "Hello! Could you please, in order to help, really list the very best files? Thanks a lot!"
        for level in skill.LEVELS:
            self.assertEqual(short(short(text, level), level), short(text, level))

    def test_estimate(self):
        for text, tokens in [("word", 1), ("seventh", 1), ("eighters", 2), ("1234", 2), ("a, b", 3), ("你好", 2)]:
            self.assertEqual(skill.estimate_tokens(text), tokens, text)

    def test_default_level_is_medium(self):
        text = "In order to win the very best game, please run."
        self.assertEqual(skill.execute({"raw_text": text}), run(text, "medium"))

    def test_wrong_parameters(self):
        for params in [{}, {"raw_text": ""}, {"raw_text": 3}, {"raw_text": "a", "compression_aggression": "max"}]:
            with self.assertRaises(ValueError):
                skill.execute(params)

    def test_the_largest_input_finishes(self):
        """A pattern that is not linear would run for hours on these."""
        for unit in [" ", " \n", "`", '"', "“", "<a", "a.", "and please ", "~~~"]:
            text = (unit * 200000)[:200000]
            self.assertLessEqual(len(short(text, "high")), 200000)
        self.assertEqual(short("a\n" + " " * 199990 + "b", "high")[-1], "b")


if __name__ == "__main__":
    unittest.main()

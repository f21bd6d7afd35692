"""The words and phrases that the rewriter knows. Plain data; how they are applied is in skill.py."""

# Verbs that make "can you ..." a request. "Can you swim" asks something else and is left alone.
REQUEST_VERBS = """
add analyse analyze answer break calculate check classify clean compare complete compute consider continue
convert create debug describe design draft edit elaborate evaluate explain extract find fix format generate
give help identify implement improve list look make outline plan prepare produce proofread propose provide
read recommend refactor remove research return review rewrite run send shorten show simplify sort suggest
summarise summarize take tell test translate turn update use write
""".split()

# Ways to begin a request. Regular expressions, used only where a sentence begins or after "and".
LEAD_INS = [
    r"please",
    r"kindly",
    r"(?:could|can|would|will) you (?:please|kindly|possibly)",
    r"(?:could|can|would|will) you(?= (?:%s)\b)" % "|".join(REQUEST_VERBS),
    r"would you be (?:so kind as|able) to",
    r"i(?: would|['’]d)(?: really| very much)? (?:like|love)(?: for)? you to",
    r"i(?: really)? (?:want|need)(?: for)? you to",
    r"i(?: would|['’]d)(?: really| greatly)? appreciate it if you (?:could|would)",
    r"i was (?:wondering|hoping) (?:if|that) you (?:could|would|might)",
    r"it would be (?:great|nice|good|helpful|wonderful|awesome) if you (?:could|would)",
]

# Sentences that only say thank you.
THANKS = (
    r"(?:many thanks|thanks|thank you)(?: so much| very much| a lot)?(?: in advance)?"
    r"(?: for your (?:help|time|assistance|support|patience|understanding|cooperation))?"
)

FILLERS = [
    "basically", "actually", "really", "literally", "essentially", "honestly", "obviously", "of course",
    "needless to say", "as you know", "as you may know", "as you can see", "to be honest",
    "it is important to note that", "it should be noted that", "it is worth noting that",
    "keep in mind that", "it goes without saying that",
]  # fmt: skip

# Only intensifiers: "only", "just", "exactly", "always" and the like are constraints and stay.
INTENSIFIERS = [
    "very", "extremely", "quite", "totally", "completely", "absolutely", "highly", "truly", "definitely",
    "certainly", "incredibly", "utterly", "simply",
]  # fmt: skip

SHORTER = {
    "in order to": "to",
    "so as to": "to",
    "due to the fact that": "because",
    "in light of the fact that": "because",
    "owing to the fact that": "because",
    "for the reason that": "because",
    "as a result of": "because of",
    "on account of": "because of",
    "in spite of the fact that": "although",
    "despite the fact that": "although",
    "in the event that": "if",
    "under circumstances in which": "when",
    "at this point in time": "now",
    "at the present time": "now",
    "at the current time": "now",
    "in the near future": "soon",
    "until such time as": "until",
    "during the course of": "during",
    "prior to": "before",
    "subsequent to": "after",
    "at all times": "always",
    "on a daily basis": "daily",
    "on a regular basis": "regularly",
    "in a timely manner": "promptly",
    "in such a way that": "so that",
    "with regard to": "about",
    "with regards to": "about",
    "with respect to": "about",
    "in regard to": "about",
    "in relation to": "about",
    "pertaining to": "about",
    "for the purpose of": "for",
    "by means of": "by",
    "in conjunction with": "with",
    "in close proximity to": "near",
    "with the exception of": "except",
    "a large number of": "many",
    "a wide variety of": "many",
    "a wide range of": "many",
    "a small number of": "few",
    "a sufficient amount of": "enough",
    "the majority of": "most",
    "each and every": "every",
    "first and foremost": "first",
    "has the ability to": "can",
    "have the ability to": "can",
    "has the capability to": "can",
    "is able to": "can",
    "are able to": "can",
    "make use of": "use",
    "makes use of": "uses",
    "utilize": "use",
    "utilise": "use",
    "make sure that": "ensure",
    "take into consideration": "consider",
    "take into account": "consider",
    "come to the conclusion": "conclude",
    "provide a summary of": "summarize",
    "give me a summary of": "summarize",
    "give a summary of": "summarize",
    "provide an explanation of": "explain",
    "give me an explanation of": "explain",
    "provide a description of": "describe",
    "perform an analysis of": "analyze",
    "end result": "result",
    "final outcome": "outcome",
    "past history": "history",
    "absolutely essential": "essential",
    "exact same": "same",
    "return back": "return",
    "repeat again": "repeat",
    "your task is to": "",
}

# An article in front of these words is no filler: "a few", "twice a day", "the more the better".
KEEPS_ARTICLE = """
few little lot bit number couple single second minute hour day week month year piece
more less fewer better worse and or is are was of to in
""".split()

# After these words, "a" is a name: "option a".
KEEPS_LETTER = """
option choice vitamin plan class type grade team point step part section answer variable letter column
exhibit appendix group table figure
""".split()

# Words that show that a line is not English, where "a" and "an" mean something else.
FOREIGN = frozenset(
    """
    el la los las que un una por para con del es de en y le les des est et une dans pour der die das und ist
    ein eine nicht mit auf von zu il di che per non sono och att det som inte ett het een van niet os uma
    com em nao não
    """.split()
)
ENGLISH = frozenset("the and of to is it that for with you this are be on as your my i not or if".split())

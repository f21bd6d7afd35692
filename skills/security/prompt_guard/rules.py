"""What attempts to take over an agent look like. Each rule: name, category, weight, pattern.

Patterns meet folded text: lower case, one blank between words, no invisible characters, Latin look-alikes replaced.
All run in linear time: gaps have a bound, and no repetition is inside of another.
"""

import re

_GAP = r"(?:\W+\w+){0,4}?\W+"

_OLD = r"(?:previous|prior|earlier|above|preceding|original|initial|existing|foregoing|system|former)"
_ORDERS = r"(?:instructions?|prompts?|directives?|rules?|guidelines?|commands?|messages?|constraints?|policies|policy|context)"

RULES = [
    ("override", "override", 60, r"\b(?:ignore|disregard|forget|override|bypass|discard|drop|skip|neglect)\b(?:\W+(?:all|any|every|each|of|the|your|my|these|those|this|that|and|everything)){0,4}\W+" + _OLD + r"(?:\W+\w+){0,2}?\W+" + _ORDERS + r"\b"),
    ("override-all", "override", 50, r"\b(?:ignore|disregard|forget)\W+(?:everything|all|anything)\W+(?:that\W+)?(?:you|i|was|has|above|before|said|told)\b"),
    ("override-your", "override", 45, r"\b(?:ignore|disregard|forget|override|bypass)\W+(?:all\W+(?:of\W+)?)?your\W+(?:\w+\W+){0,2}?" + _ORDERS + r"\b"),
    ("override-german", "override", 60, r"\b(?:ignoriere?|vergiss|missachte)\b" + _GAP + r"(?:anweisungen|instruktionen|regeln|vorgaben)\b"),
    ("override-french", "override", 60, r"\b(?:ignore[rz]?|oublie[rz]?)\b" + _GAP + r"(?:instructions|consignes|regles|règles)\b(?:\W+\w+){0,2}?\W+(?:precedentes|précédentes|anterieures|antérieures|ci)\b"),
    ("override-spanish", "override", 60, r"\b(?:ignora|ignore|olvida|olvide)\b" + _GAP + r"(?:instrucciones|reglas|ordenes|órdenes)\b(?:\W+\w+){0,2}?\W+(?:anteriores|previas)\b"),
    ("override-chinese", "override", 60, r"(?:忽略|无视|忘记)[^\n。]{0,12}(?:指令|指示|提示|规则)"),
    ("new-instructions", "override", 30, r"\b(?:new|updated|revised|real|actual|true)\W+(?:system\W+)?(?:instructions?|prompt|directives?)\W{0,3}(?::|follow|begin|are|is)"),
    ("end-of-prompt", "impersonation", 40, r"(?:\bend of (?:the )?(?:system |user )?(?:prompt|instructions|context|input|document)\b|\bbegin (?:new|admin|system) (?:prompt|instructions|mode)\b)"),
    ("chat-markup", "impersonation", 50, r"(?:<\|(?:im_start|im_end|system|user|assistant|endoftext|begin_of_text|start_header_id|eot_id)\|>|\[/?inst\]|<</?sys>>|</?(?:system|assistant)(?:[_ -](?:prompt|message|instructions?))?>)"),
    ("forged-role", "impersonation", 30, r"(?:^|\n)\W{0,3}(?:system|assistant|developer|admin(?:istrator)?)(?: (?:message|prompt|note|override|instruction|notice))?\W{0,2}:"),
    ("forged-authority", "impersonation", 25, r"\b(?:this is|message from|on behalf of|authori[sz]ed by)\W+(?:the\W+|your\W+)?(?:system|developers?|admin(?:istrator)?s?|openai|anthropic|google|creators?|security team)\b"),
    ("role-change", "jailbreak", 30, r"\b(?:you are now|from now on,? you(?: are|'re| will| must)|act as if you (?:are|have|were)|pretend (?:to be|that you|you)|roleplay as|your new role)\b"),
    ("no-limits", "jailbreak", 40, r"\b(?:do anything now|dan mode|developer mode|jailbreak(?:ed)?|god mode|(?:without|no|free of|free from)\W+(?:any\W+)?(?:restrictions?|filters?|guardrails?|safety (?:rules|guidelines)|ethical guidelines|censorship))\b"),
    ("reveal-prompt", "exfiltration", 45, r"\b(?:reveal|show|print|repeat|output|display|tell|leak|expose|dump|recite|give|send|write)\b(?:\W+\w+){0,4}?\W+(?:system|hidden|initial|original|secret|internal|developer)\W+(?:prompt|instructions?|messages?|rules|configuration)\b"),
    ("reveal-above", "exfiltration", 35, r"\b(?:repeat|print|output|copy)\W+(?:everything|all(?:\W+the)?\W+(?:text|words)|the (?:text|words))\W+(?:above|before)\b"),
    ("send-secrets", "exfiltration", 55, r"\b(?:send|post|upload|email|e-mail|forward|exfiltrate|transmit|leak|copy|include|append)\b(?:\W+\w+){0,6}?\W+(?:passwords?|credentials?|api[ _-]?keys?|secrets?|tokens?|private keys?|cookies?|environment variables?|\.env|ssh keys?|seed phrase|conversation history|chat history)\b"),
    ("ask-secrets", "exfiltration", 40, r"\b(?:what is|what are|tell me|give me|show me|reveal|print|read)\b(?:\W+\w+){0,3}?\W+(?:your|the user'?s|the system'?s|their)\W+(?:\w+\W+){0,2}?(?:passwords?|credentials?|api[ _-]?keys?|secrets?|tokens?|private keys?)\b"),
    ("image-beacon", "exfiltration", 50, r"!\[[^\]\n]{0,200}\]\(\s{0,3}https?://[^\s)]{1,500}[?&][^\s)=]{1,60}=(?:[^\s)]{0,200}[{<%\[]|[^\s)]{0,40}(?:secret|token|key|password|history|data|conversation))"),
    ("tool-order", "tools", 35, r"\b(?:you must|you should|you need to|immediately|now|please|then|first)\W+(?:call|invoke|use|run|execute|trigger)\W+(?:the\W+)?[\w.-]{1,60}\W+(?:tool|function|command|plugin|action|skill)s?\b"),
    ("shell-order", "tools", 45, r"\b(?:run|execute|type|paste|enter)\b(?:\W+\w+){0,5}?\W+(?:curl|wget|rm -rf|powershell|bash -c|sh -c|nc|chmod|eval)\b"),
    ("pipe-to-shell", "tools", 50, r"\b(?:curl|wget)\b[^\n|]{1,300}\|\s{0,4}(?:sudo )?(?:ba|z|da)?sh\b"),
    ("hide-from-user", "deception", 50, r"\b(?:do not|don't|never|without)\W+(?:tell(?:ing)?|inform(?:ing)?|mention(?:ing)?|alert(?:ing)?|notify(?:ing)?|show(?:ing)?|reveal(?:ing)?|asking|ask)\b(?:\W+\w+){0,3}?\W+(?:(?:the|your|any|this|its|their)\W+(?:user|human|owner|operator|person|people)|anyone|anybody)\b"),
    ("concealed-action", "deception", 30, r"\b(?:secretly|silently|covertly|quietly|in the background)\W+(?:\w+\W+){0,2}?(?:send|call|run|add|execute|forward|delete|install|include|change)\b"),
]

PATTERNS = [(name, category, weight, re.compile(pattern)) for name, category, weight, pattern in RULES]

# Markup that people do not see. It meets the text as it is.
HIDDEN_MARKUP = [
    ("html-comment", 15, re.compile(r"<!--(.{1,5000}?)-->", re.S)),
    ("hidden-element", 35, re.compile(
        r"<(\w{1,20})[^<>]{0,500}?(?:display\s{0,3}:\s{0,3}none|visibility\s{0,3}:\s{0,3}hidden|font-size\s{0,3}:\s{0,3}0|opacity\s{0,3}:\s{0,3}0(?![.\d])|\bhidden\b|aria-hidden\s{0,3}=\s{0,3}[\"']?true)[^<>]{0,500}>(.{1,5000}?)</\1>",
        re.S | re.I)),
]

# Letters of other alphabets that look like Latin ones.
LOOK_ALIKES = str.maketrans(
    "аеорсухіјѕԁһԛԝьΑΒΕΖΗΙΚΜΝΟΡΤΥΧαενορτυχιкгпмтАВЕКМНОРСТУХІЅЈ",
    "aeopcyxijsdhqwbABEZHIKMNOPTYXaevoptyxikrпmtABEKMHOPCTYXISJ".replace("п", "n"),
)

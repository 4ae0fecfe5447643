"""The constructions that texts for users must not contain, and the length of sentences.

Messages, help, pages of the browser and the manual are held to this list by
tests/test_plain_messages.py.
"""

import re

LONGEST = 25  # words of a sentence in guides, explanations and tutorials

# A regular expression, and what to write instead.
BANNED = {
    r"\banew\b": "again",
    r"\b(is|are|was|were|be) (told|asked about)\b": "the subject: 'weft warns if ...'",
    r"\bas far as (?!(those|in|from)\b)": "'up to ...', 'if ...'",
    r"\bwhat is (pressed|met|held|sewn|cut|taken|bent|pulled|fitted|left)\b": "a noun",
    r"\bwhat (it is|they are) made (of|from)\b": "a noun",
    r"\bwhich of what\b": "'which number of which thing'",
    r"\bgo(es)? (its|their) way\b": "'separate'",
    r"\bmay be gone\b": "the motion that is allowed",
    r"(?<!\bthere )\b(is|are|was) no (?!(longer|more|such)\b)(?=\w)": "'is not a ...'",
    r"\bsuch that\b": "'so that'",
    r"\bfor an afternoon\b": "a number of hours",
    r"\b(cloth|objects?) in the hand\b": "the command, such as `weft play`",
    r"\b(resolves?|by) (by )?(itself|themselves)\b": "what happens: 'the seams close'",
    r"\bleast (distance|speed|height)\b": "'smallest ...'",
    r"\bworst {2,}": "'extremes', 'largest ...', 'smallest ...'",
    r"\bis the \w+ (right|what you mean)\?": "'check the ...'",
    r"\bsteps of time\b": "'time steps'",
    r"\bnone: (none|nothing does|it does)\b": "the state: 'none: no contact'",
    r"\b(it|which) (is|are) (said|known|found) by\b": "the subject: 'weft finds ... by'",
}
_COMPILED = [(re.compile(banned, re.IGNORECASE), instead) for banned, instead in BANNED.items()]

_ABBREVIATION = re.compile(r"\b(et al|e\.g|i\.e|cf|vs|Fig|Figs|Eq|Eqs|Sec|Vol|approx)\.")
_BLOCK = re.compile(r"^(`{3,}|~{3,}|\$\$).*?^\1\s*$", re.MULTILINE | re.DOTALL)


def faults(text: str) -> list[str]:
    """Return the banned constructions in a text, each with what to write instead."""
    found = [(banned.search(text), instead) for banned, instead in _COMPILED]
    return [f"'{match[0]}': write {instead}" for match, instead in found if match is not None]


def prose(page: str) -> str:
    """Return the text of a page in Markdown without blocks of code and equations."""
    return _BLOCK.sub("\n", page)


def sentences(page: str) -> list[str]:
    """Return the sentences of a page in Markdown: of paragraphs, entries of lists and cells."""
    parts: list[str] = []
    begins = True  # whether the next line begins a part
    for line in map(str.strip, prose(page).splitlines()):
        if line.startswith("|"):
            parts += line.strip("|").split("|")
        if not line or line.startswith(("#", "|", ":", "<", "!")):
            begins = True
        elif begins or re.match(r"([-*]|\d+\.) ", line):
            parts.append(line)
            begins = False
        else:
            parts[-1] += f" {line}"
    return [sentence for part in parts for sentence in _split(part)]


def words(sentence: str) -> int:
    """Return the number of words; code, a formula and a link count as one word."""
    return sum(bool(re.search(r"\w", word)) for word in sentence.split())


def _split(part: str) -> list[str]:
    """Return the sentences of a paragraph."""
    text = re.sub(r"`[^`]*`|\$[^$]+\$", "code", part)
    text = re.sub(r"\]\([^)]*\)", "]", text)
    return re.split(r"(?<=[.!?])[)*\"']*\s+", _ABBREVIATION.sub(r"\1", text))

"""Other words for what is asked: `made/synonyms.txt`, put into requests and descriptions, so that the two share fewer words.

    reworded(rng, "repair the {thing} in the cellar")   ->   "mend the {thing} in the basement"

Words are found by what stands before and behind them, since "book" may be a verb or a thing; what is in braces stays as it is.
"""
import re

from lexicon import gerund
from values import MADE, pick

BRACES = re.compile(r"(\{[^}]*\})")
BEFORE_VERBS = set("to please you and can could let's must should i we don't not would will then just kindly or".split())
BEFORE_NOUNS = set("the a an my our your this that his her their some any no every each all of for with in on at from by about into which what these those many few new old whole".split())
BEHIND_NOUNS = set("in on for of to and or with at from by is are was were has have had that which who please again now today tomorrow so but because since as it needs need about into under over behind near between until before after if when should must can will be been not still just there here".split())
PARTICLES = set("up down off on out away back over in into through around along me us if that how what whether which where when who for with about to at by as it them".split())
FIXED = "\x00"
"""Marks a word that was put in, until the article before it is right."""


def many(word):
    if word.endswith(("s", "x", "ch", "sh")):
        return word + "es"
    return word[:-1] + "ies" if word.endswith("y") and word[-2:-1] not in "aeou" else word + "s"


def read():
    """Verbs, nouns and others: each word with those that may stand in its place."""
    found = {"verbs": {}, "nouns": {}, "others": {}}
    for line in (MADE / "synonyms.txt").read_text().splitlines():
        if line.startswith("@"):
            kind = found[line[1:]]
        elif not line.startswith("#"):
            word, *others = line.split("|")
            kind.setdefault(word, []).extend(others)
    for word, others in list(found["verbs"].items()):
        found["verbs"].setdefault(gerund(word), [gerund(other) for other in others])
    for word, others in list(found["nouns"].items()):
        short = [other for other in others if " " not in other]
        if short and not word.endswith("s"):
            found["nouns"].setdefault(many(word), [other if other.endswith("s") else many(other) for other in short])
    return found


WORDS = read()
FINDER = re.compile(r"(?<![\w'-])(" + "|".join(sorted({re.escape(word) for kind in WORDS.values() for word in kind}, key=len, reverse=True)) + r")(?![\w'-])")


def reworded(rng, text, chance=0.5):
    parts = BRACES.split(text)
    for i in range(0, len(parts), 2):
        part = parts[i]

        def put(m):
            if rng.random() > chance:
                return m[0]
            before = part[:m.start()].split()
            last = before[-1].lower() if before else "{" if i else ""
            behind = part[m.end():].split()
            after = behind[0].strip(",.?!:;") if behind and part[m.end()] == " " else ""
            if m[0] in WORDS["verbs"] and after not in PARTICLES and (not last or last in BEFORE_VERBS or m[0].endswith("ing") and last not in BEFORE_NOUNS):
                return pick(rng, WORDS["verbs"][m[0]])
            if m[0] in WORDS["nouns"] and (last in BEFORE_NOUNS or last == "{") and (not after or after in BEHIND_NOUNS):
                return FIXED + pick(rng, WORDS["nouns"][m[0]])
            if m[0] in WORDS["others"] and last and last not in BEFORE_VERBS:
                return FIXED + pick(rng, WORDS["others"][m[0]])
            return m[0]

        parts[i] = FINDER.sub(put, part)
    text = "".join(parts)
    return re.sub(r"\ban? " + FIXED + "([a-z])", lambda m: ("an " if m[1] in "aeio" else "a ") + m[1], text).replace(FIXED, "") if FIXED in text else text


def renamed(rng, words):
    """The words of a name, one of them another."""
    known = [i for i, word in enumerate(words) if word in WORDS["nouns"] or not i and word in WORDS["verbs"]]
    if not known:
        return words
    i = pick(rng, known)
    others = [other for other in WORDS["verbs" if not i and words[i] in WORDS["verbs"] else "nouns"].get(words[i], ()) if other.isalpha() and other.islower()]
    return words[:i] + [pick(rng, others)] + words[i + 1:] if others else words

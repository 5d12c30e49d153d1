"""Porter's stemmer: M. F. Porter, "An algorithm for suffix stripping", Program 14(3), 1980."""

from __future__ import annotations

import re

__all__ = ["stem"]

_SECOND = {
    "ational": "ate", "tional": "tion", "enci": "ence", "anci": "ance", "izer": "ize", "abli": "able",
    "alli": "al", "entli": "ent", "eli": "e", "ousli": "ous", "ization": "ize", "ation": "ate",
    "ator": "ate", "alism": "al", "iveness": "ive", "fulness": "ful", "ousness": "ous", "aliti": "al",
    "iviti": "ive", "biliti": "ble",
}  # fmt: skip
_THIRD = {
    "icate": "ic", "ative": "", "alize": "al", "iciti": "ic", "ical": "ic", "ful": "", "ness": "",
}  # fmt: skip
_FOURTH = (
    "al", "ance", "ence", "er", "ic", "able", "ible", "ant", "ement", "ment", "ent", "ion", "ou", "ism",
    "ate", "iti", "ous", "ive", "ize",
)  # fmt: skip


def _letters(word: str) -> str:
    """Return c for each consonant, v for each vowel; y is a vowel after a consonant."""
    kinds = ""
    for letter in word:
        vowel = letter in "aeiou" or (letter == "y" and kinds.endswith("c"))
        kinds += "v" if vowel else "c"
    return kinds


def _measure(word: str) -> int:
    """Return m of [C](VC)^m[V]."""
    return len(re.findall("v+c+", _letters(word)))


def _has_vowel(word: str) -> bool:
    return "v" in _letters(word)


def _doubled(word: str) -> bool:
    return len(word) > 1 and word[-1] == word[-2] and _letters(word)[-1] == "c"


def _short(word: str) -> bool:
    """Tell whether it ends in consonant, vowel, consonant, the last not w, x or y."""
    return _letters(word).endswith("cvc") and word[-1] not in "wxy"


def _replaced(word: str, suffixes: dict[str, str]) -> str:
    """Replace the longest of the suffixes, where m of the rest is above 0."""
    for suffix in sorted(suffixes, key=len, reverse=True):
        if word.endswith(suffix):
            rest = word[: -len(suffix)]
            return rest + suffixes[suffix] if _measure(rest) > 0 else word
    return word


def _plural(word: str) -> str:
    for suffix, new in (("sses", "ss"), ("ies", "i"), ("ss", "ss"), ("s", "")):
        if word.endswith(suffix):
            return word[: -len(suffix)] + new
    return word


def _past(word: str) -> str:
    if word.endswith("eed"):
        return word[:-1] if _measure(word[:-3]) > 0 else word
    for suffix in ("ed", "ing"):
        rest = word[: -len(suffix)]
        if word.endswith(suffix) and _has_vowel(rest):
            if rest.endswith(("at", "bl", "iz")):
                return rest + "e"
            if _doubled(rest) and rest[-1] not in "lsz":
                return rest[:-1]
            return rest + "e" if _measure(rest) == 1 and _short(rest) else rest
    return word


def _without(word: str) -> str:
    """Drop the longest of the fourth step's suffixes, where m of the rest is above 1."""
    for suffix in sorted(_FOURTH, key=len, reverse=True):
        if word.endswith(suffix):
            rest = word[: -len(suffix)]
            dropped = _measure(rest) > 1 and (suffix != "ion" or rest.endswith(("s", "t")))
            return rest if dropped else word
    return word


def stem(word: str) -> str:
    """Return the stem of an English word in lower case."""
    if len(word) < 3:
        return word
    word = _past(_plural(word))
    if word.endswith("y") and _has_vowel(word[:-1]):
        word = word[:-1] + "i"
    word = _without(_replaced(_replaced(word, _SECOND), _THIRD))
    if word.endswith("e"):
        rest = word[:-1]
        if _measure(rest) > 1 or (_measure(rest) == 1 and not _short(rest)):
            word = rest
    if word.endswith("ll") and _measure(word) > 1:
        word = word[:-1]
    return word

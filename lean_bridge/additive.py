"""The name that Mathlib's `@[to_additive]` gives by default, from its dictionary of words.

Only a candidate: Mathlib's own table grows, and only Lean knows the generated name.
"""

import re

# Facts of Mathlib's naming dictionary: a multiplicative word and the additive words for it.
_WORDS = {
    "one": "zero",
    "mul": "add",
    "smul": "vadd",
    "inv": "neg",
    "div": "sub",
    "prod": "sum",
    "hmul": "hadd",
    "hsmul": "hvadd",
    "hdiv": "hsub",
    "hpow": "hsmul",
    "finprod": "finsum",
    "tprod": "tsum",
    "pow": "nsmul",
    "npow": "nsmul",
    "zpow": "zsmul",
    "mabs": "abs",
    "monoid": "add monoid",
    "submonoid": "add submonoid",
    "group": "add group",
    "subgroup": "add subgroup",
    "semigroup": "add semigroup",
    "magma": "add magma",
    "haar": "add haar",
    "prehaar": "add prehaar",
    "unit": "add unit",
    "units": "add units",
    "cyclic": "add cyclic",
    "semigrp": "add semigrp",
    "grp": "add grp",
    "commute": "add commute",
    "semiconj": "add semiconj",
    "rootable": "divisible",
    "zpowers": "zmultiples",
    "powers": "multiples",
    "multipliable": "summable",
    "square": "even",
    "mconv": "conv",
    "mlconvolution": "lconvolution",
    "gpfree": "apfree",
    "quantale": "add quantale",
}
# Word sequences, in lower case, that come out wrong word by word.
_PHRASES = {
    ("left", "cancel", "add"): ("add", "left", "cancel"),
    ("right", "cancel", "add"): ("add", "right", "cancel"),
    ("cancel", "comm", "add"): ("add", "cancel", "comm"),
    ("cancel", "add"): ("add", "cancel"),
    ("comm", "add"): ("add", "comm"),
    ("add", "support"): ("support",),
    ("add", "t", "support"): ("t", "support"),
    ("add", "indicator"): ("indicator",),
    ("add", "single"): ("single",),
    ("zero", "le"): ("nonneg",),
    ("zero", "lt"): ("pos",),
    ("is", "regular"): ("is", "add", "regular"),
    ("is", "left", "regular"): ("is", "add", "left", "regular"),
    ("is", "right", "regular"): ("is", "add", "right", "regular"),
    ("has", "fundamental", "domain"): ("has", "add", "fundamental", "domain"),
    ("quotient", "measure"): ("add", "quotient", "measure"),
}
_LONGEST = max(map(len, _PHRASES))
# `SMul`, `HPow` are one word each.
_CASE = re.compile(r"(?:H?S|H|[hs])(?:Mul|Div|Pow)(?![a-z])|[A-Z]?[a-z]+|[A-Z]+(?![a-z])|[A-Z]|[^A-Za-z]+")


def additive_name(component: str) -> str:
    """The additive counterpart of one name component: `commMonoid_mul` gives `addCommMonoid_add`."""
    return "_".join(_translate(token) for token in component.split("_"))


def _translate(token: str) -> str:
    words = _CASE.findall(token)
    translated = [new for word in words for new in _translations(word)]
    if translated == words:
        return token
    parts: list[str] = []
    i = 0
    while i < len(translated):
        for length in range(min(_LONGEST, len(translated) - i), 1, -1):
            phrase = _PHRASES.get(tuple(word.lower() for word in translated[i : i + length]))
            if phrase:
                parts += phrase
                i += length
                break
        else:
            parts.append(translated[i])
            i += 1
    joined = [part[:1].upper() + part[1:] for part in parts]
    if words[0][:1].islower():
        joined[0] = joined[0][:1].lower() + joined[0][1:]
    return "".join(joined)


def _translations(word: str) -> list[str]:
    """The additive words for one word; a single one takes over the case letter by letter (SMul, VAdd)."""
    new = _WORDS.get(word.lower())
    if new is None:
        return [word]
    if " " in new:
        return new.split()
    return ["".join(b.upper() if a.isupper() else b for a, b in zip(word, new, strict=False)) + new[len(word) :]]

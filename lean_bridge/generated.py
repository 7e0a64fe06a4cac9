"""Names that an attribute or a command makes Lean generate, by rule. Always candidates."""

from collections.abc import Iterator

from lean_bridge.additive import additive_name
from lean_bridge.attributes import Attribute, plain_words
from lean_bridge.names import Name, split_name

# An attribute and what it appends to the name it stands on.
_SUFFIX = {"reassoc": "_assoc", "elementwise": "_apply"}
# `@[to_additive existing]` and the like name no new declaration.
_NOT_NEW = frozenset({"existing", "self", "none"})


def generated_names(name: Name, word: str, attributes: list[Attribute]) -> Iterator[tuple[Name, str]]:
    """Each candidate with the reason for it, in the order of the attributes."""
    *namespace, last = name
    if word == "irreducible_def":
        yield (*namespace, f"{last}_def"), "irreducible_def"
    for attribute, arguments, _ in attributes:
        if attribute == "to_additive":
            yield from _additive(name, arguments)
        elif attribute == "ext":
            if word in ("structure", "class"):
                yield (*name, "ext"), "@[ext]"
                yield (*name, "ext_iff"), "@[ext]"
            elif "iff" not in arguments:
                yield (*namespace, f"{last}_iff"), "@[ext]"
        elif attribute == "mk_iff":
            words = plain_words(arguments)
            made = words[0] if words else f"{last[:1].lower()}{last[1:]}_iff"
            yield (*namespace, made), "@[mk_iff]"
        elif attribute in _SUFFIX:
            yield (*namespace, last + _SUFFIX[attribute]), f"@[{attribute}]"
        elif attribute in ("simps", "simps!"):
            for projection in plain_words(arguments):
                yield (*namespace, f"{last}_{projection}"), "@[simps]"


def _additive(name: Name, arguments: str) -> Iterator[tuple[Name, str]]:
    words = plain_words(arguments)
    if words and words[0] in _NOT_NEW:
        return
    *namespace, last = (additive_name(part) for part in name)
    if not words:
        if (*namespace, last) != name:
            yield (*namespace, last), "@[to_additive]"
        return
    given = split_name(words[0])
    # A given name of n components replaces the last n of the translated name.
    kept = namespace[: max(0, len(namespace) - len(given) + 1)]
    yield (*kept, *given), "@[to_additive]"

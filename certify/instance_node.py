"""Typed reading of an instance's tree; every problem is collected under its JSON path."""

from collections.abc import Collection, Mapping
from difflib import get_close_matches
from functools import lru_cache

from flint import fmpq

from certify.arithmetic.decide import decide_le, decide_lt
from certify.arithmetic.exact import NumberError, parse_rational
from certify.arithmetic.expression import Expression, ExpressionError, Number, parse_expression
from certify.arithmetic.verdict import Verdict
from certify.instance_file import (
    MAX_PROBLEMS_SHOWN,
    REFUSED,
    InputProblem,
    InstanceTree,
    JsonNumber,
    JsonValue,
    member_path,
    quoted,
    shown,
)
from certify.quantity import Quantity

MAX_SUGGESTION_LENGTH, MAX_SUGGESTIONS, MAX_LISTED = 200, 500, 12
SMALLEST_QUANTITY, LARGEST_QUANTITY = fmpq(1, 10**300), fmpq(10**300)
PRECISION, MAX_PRECISION = 64, 4096

_ZERO = fmpq(0)


class Node:
    """A value of the tree with its JSON path.

    A method that finds a problem adds it to the list that all nodes of the tree share, and returns None or an
    empty collection: the reader goes on, so that everything wrong is found in one reading.
    """

    __slots__ = ("_key", "_parent_path", "problems", "value")

    def __init__(self, value: JsonValue, problems: list[InputProblem], parent_path: str, key: str | int) -> None:
        self.value = value
        self.problems = problems
        self._parent_path = parent_path
        self._key = key

    @classmethod
    def root(cls, tree: InstanceTree) -> "Node":
        """The outermost object; the problems begin with those of the file."""
        return cls(tree, list(tree.problems), "", "$")

    @property
    def path(self) -> str:
        """The JSON path, `$` for the root."""
        if not self._parent_path:
            return "$"
        if isinstance(self._key, int):
            return f"{self._parent_path}[{self._key}]"
        return member_path(self._parent_path, self._key)

    @property
    def shown(self) -> str:
        """The value for a message."""
        return shown(self.value)

    @property
    def count(self) -> int | None:
        """The number of elements or members; None for other values and for none of them."""
        return len(self.value) or None if isinstance(self.value, (list, dict)) else None

    def __contains__(self, name: str) -> bool:
        """Whether the value is an object with the member `name`."""
        return isinstance(self.value, dict) and name in self.value

    def report(self, message: str) -> None:
        """Add a problem at this path, unless the file's own problems already cover the value."""
        if self.value is not REFUSED:
            self.problems.append(InputProblem(self.path, message))

    def report_missing(self, name: str, hint: str) -> None:
        """Add the problem that this object lacks the member `name`; `hint` says what to write."""
        self.problems.append(InputProblem(member_path(self.path, name), f"is missing: {hint}"))

    def suggestion(self, name: str, known: Collection[str]) -> str:
        """`suggestion`, without the costly search for problems that will not be shown."""
        return suggestion(name, known, search=len(self.problems) < MAX_PROBLEMS_SHOWN)

    def fields(self, required: Mapping[str, str], optional: Collection[str] = ()) -> dict[str, "Node"]:
        """The members by name; reports missing ones, with the hint in `required`, and unknown ones."""
        known = (*required, *optional)
        if not isinstance(self.value, dict):
            self.report(f"{self.shown} is not an object: give the fields {', '.join(known)}")
            return {}
        path = self.path
        for name in self.value:
            if name not in known:
                message = f"unknown field: {self.suggestion(name, known)}"
                self.problems.append(InputProblem(member_path(path, name), message))
        for name, hint in required.items():
            if name not in self.value:
                self.report_missing(name, hint)
        return {name: self._inner(name, value) for name, value in self.value.items() if name in known}

    def entries(self, low: int, high: int, what: str) -> dict[str, "Node"]:
        """The members of an object whose names are free; `what` says in the plural what it holds."""
        if not isinstance(self.value, dict):
            self.report(f"{self.shown} is not an object: give {what} by name")
            return {}
        if not self._countable(len(self.value), low, high, what):
            return {}
        return {name: self._inner(name, value) for name, value in self.value.items()}

    def elements(self, low: int, high: int, what: str) -> list["Node"]:
        """The elements of a list of at least `low` and at most `high`."""
        if not isinstance(self.value, list):
            self.report(f"{self.shown} is not a list: give a list of {what}")
            return []
        if not self._countable(len(self.value), low, high, what):
            return []
        return [self._inner(index, value) for index, value in enumerate(self.value)]

    def _inner(self, key: str | int, value: JsonValue) -> "Node":
        return Node(value, self.problems, self.path, key)

    def _countable(self, count: int, low: int, high: int, what: str) -> bool:
        if count < low:
            self.report(f"has no {what}: give at least {low}")
        elif count > high:
            self.report(f"has {count:,} {what}: give at most {high:,}")
        return low <= count <= high

    def string(self) -> str | None:
        """A string."""
        if isinstance(self.value, str):
            return self.value
        self.report(f"{self.shown} is not a string: put it in double quotes")
        return None

    def line(self, longest: int) -> str | None:
        """A string that is one printable line: see `is_line`."""
        text = self.string()
        if text is None or is_line(text, longest):
            return text
        self.report(f"{self.shown} is not a printable text: {line_rule(longest)}")
        return None

    def one_of(self, names: Collection[str], what: str) -> str | None:
        """One of the strings `names`; `what` says in the singular what they are."""
        text = self.string()
        if text is None or text in names:
            return text
        self.report(f"{self.shown} is not {what}: {self.suggestion(text, names)}")
        return None

    def integer(self, low: int, high: int, remedy: str = "") -> int | None:
        """An integer in [low, high], written as a JSON number. `remedy` says what to do above `high`."""
        if not isinstance(self.value, JsonNumber):
            self.report(f"{self.shown} is not an integer: write a number such as {max(low, 1)}, without quotes")
            return None
        number = self._number(self.value.text)
        if number is None:
            return None
        if number.q != 1:
            self.report(f"{self.shown} is not an integer: write a whole number")
        elif number < low:
            self.report(f"{self.shown} is too small: the least is {low:,}")
        elif number > high:
            self.report(f"{self.shown} is too large: the greatest is {high:,}{remedy}")
        else:
            return int(number.p)
        return None

    def rational(self) -> fmpq | None:
        """An exact rational: a number, or a string such as "1/3"."""
        if isinstance(self.value, JsonNumber):
            return self._number(self.value.text)
        if isinstance(self.value, str):
            return self._number(self.value)
        self.report(f'{self.shown} is not a number: write one, or a fraction such as "1/3"')
        return None

    def quantity(self, names: Mapping[str, Quantity | None], at_most: int | None = None) -> Quantity | None:
        """A number or expression in `names`, certified to be positive and not above `at_most`.

        A name that is None may be used, but what it stands for is already among the problems.
        """
        expression = self._expression(names)
        if expression is None:
            return None
        environment = {name: names[name] for name in sorted(expression.names())}
        defined = {name: quantity for name, quantity in environment.items() if quantity is not None}
        if len(defined) < len(environment):
            return None
        quantity = Quantity(expression, defined)
        return quantity if self._in_range(quantity, at_most) else None

    def _number(self, text: str) -> fmpq | None:
        try:
            return _rational(text)
        except NumberError as error:
            self.report(str(error))
            return None

    def _expression(self, names: Collection[str]) -> Expression | None:
        """The number or expression, if all its names are among `names`."""
        if isinstance(self.value, JsonNumber):
            return None if self._number(self.value.text) is None else Number(self.value.text)
        if not isinstance(self.value, str):
            self.report(f'{self.shown} is not a number: write one, or an expression such as "1/3"')
            return None
        try:
            expression = parse_expression(self.value)
        except ExpressionError as error:
            self.report(f"{self.shown} is not an expression: {error}")
            return None
        unknown = sorted(expression.names().difference(names))
        for name in unknown:
            self.report(f"{self.shown} uses the unknown name {quoted(name)}: {self.suggestion(name, names)}")
        return None if unknown else expression

    def _in_range(self, quantity: Quantity, at_most: int | None) -> bool:
        value = quantity.value
        comparisons = [
            (decide_lt, lambda: _ZERO, value, "0", "is not greater than 0: write a positive number"),
            (
                decide_le,
                lambda: SMALLEST_QUANTITY,
                value,
                "10^-300",
                "is below 10^-300: write a larger number",
            ),
            (decide_le, value, lambda: LARGEST_QUANTITY, "10^300", "is above 10^300: write a smaller number"),
        ]
        if at_most is not None:
            message = f"is greater than {at_most}: write a number in (0,{at_most}]"
            comparisons.append((decide_le, value, lambda: fmpq(at_most), str(at_most), message))
        try:
            for decide, low, high, limit, message in comparisons:
                decision = decide(low, high, precision=PRECISION, max_precision=MAX_PRECISION)
                if decision.verdict is not Verdict.PROVED:
                    unclear = f"cannot be compared with {limit} ({decision.reason}): write an exact number"
                    self.report(f"{self.shown} {message if decision.verdict is Verdict.REFUTED else unclear}")
                    return False
        except ExpressionError as error:
            self.report(f"{self.shown} has no value ({error}): write a positive number or expression")
            return False
        return True


def is_line(text: str, longest: int) -> bool:
    """Whether `text` has 1 to `longest` characters, all printable or joiners in words (U+200C, U+200D)."""
    return 0 < len(text) <= longest and text.replace("\u200c", "").replace("\u200d", "").isprintable()


def line_rule(longest: int) -> str:
    """What `is_line` asks for."""
    return f"write 1 to {longest:,} printable characters"


def suggestion(name: str, known: Collection[str], *, search: bool = True) -> str:
    """What to write instead of the unknown `name`: the known name most like it, or which there are."""
    if search and len(name) <= MAX_SUGGESTION_LENGTH and len(known) <= MAX_SUGGESTIONS:
        folded = {each.casefold(): each for each in known}
        for near in get_close_matches(name.casefold(), folded, n=1):
            return f"did you mean {quoted(folded[near])}?"
    if len(known) <= MAX_LISTED:
        return f"write one of {', '.join(quoted(each) for each in known)}"
    return f"write one of the {len(known):,} known"


@lru_cache(maxsize=4096)
def _rational(text: str) -> fmpq:
    return parse_rational(text)  # the numbers of a large table are mostly written alike

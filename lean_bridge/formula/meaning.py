"""What a Lean term of the subset means: Lean's types decided as Lean's elaborator decides them.

The operators + - * / take the largest type among their leaves and what is expected from outside; the base
of a power belongs to them, the exponent is on its own; arguments of `min`, `max`, `⌈·⌉`, `|·|` and `↑`
expect nothing. So `(n / 2 : ℝ)` divides reals and `↑(n / 2)` natural numbers. Whatever would subtract or
divide in ℕ or ℤ, where the operation is not the real one, is outside the subset.
"""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass

from lark import Token, Tree

from certify.arithmetic.expression import Call, Expression, Negation, Number, Operation
from lean_bridge.formula.term import OutsideError, Term, atom_text, parse_term

_RANK = {"nat": 0, "int": 1, "rat": 2, "real": 3}
TYPES = {
    "ℕ": "nat",
    "Nat": "nat",
    "ℤ": "int",
    "Int": "int",
    "ℚ": "rat",
    "Rat": "rat",
    "ℝ": "real",
    "Real": "real",
}
_REAL_FUNCTIONS = {
    "Real.exp": "exp",
    "rexp": "exp",
    "Real.rexp": "exp",
    "Real.log": "log",
    "Real.sqrt": "sqrt",
}
_UNQUALIFIED = {"exp": "exp", "log": "log", "sqrt": "sqrt"}
_LATTICE = {"min": "min", "max": "max", "Min.min": "min", "Max.max": "max"}
_GROUPS = {"min_of": "min", "max_of": "max"}
_OPERATORS = {"add": "+", "subtract": "-", "multiply": "*", "divide": "/"}
_MAX_UNFOLDING = 20
_MAX_SIZE = 5_000
_MAX_DEPTH = 200
_MAX_NESTING = 110


@dataclass(frozen=True, slots=True)
class Meaning:
    """An expression and its Lean type: nat, int, rat or real."""

    expression: Expression
    type: str


@dataclass(frozen=True, slots=True)
class Definition:
    """A constant of the Lean project: explicit parameters with their types, type of the value, body."""

    parameters: tuple[tuple[str, str], ...]
    type: str
    body: str
    open_real: bool = False


@dataclass(frozen=True)
class Vocabulary:
    """What names mean: texts of atoms with the variables they stand for, and definitions to unfold.

    `definition` returns None for an unknown name and raises OutsideError for one that must not be unfolded.
    """

    atoms: Mapping[str, Meaning]
    definition: Callable[[str], Definition | None]
    open_real: bool = False


def meaning(text: str, vocabulary: Vocabulary) -> Expression:
    """The real number a Lean term denotes. Raises OutsideError."""
    budget = _Budget()
    expression = _Elaborator(vocabulary, 0, budget).elaborate(parse_term(text), None).expression
    if _depth(expression) > _MAX_DEPTH:
        raise OutsideError(f"operations are more than {_MAX_DEPTH} deep once definitions are unfolded")
    return expression


class _Budget:
    """Steps that are left, and how deep the walk is: definitions inside one another can grow exponentially."""

    def __init__(self) -> None:
        self.left = _MAX_SIZE
        self.nesting = 0

    @contextmanager
    def level(self) -> Iterator[None]:
        """One level further down."""
        self.nesting += 1
        if self.nesting > _MAX_NESTING:
            raise OutsideError(f"operations are more than {_MAX_NESTING} deep")
        yield
        self.nesting -= 1

    def spend(self) -> None:
        self.left -= 1
        if self.left < 0:
            raise OutsideError(f"more than {_MAX_SIZE} steps to unfold it")


def _depth(expression: Expression) -> int:
    deepest = 0
    pending = [(expression, 1)]
    while pending:
        node, level = pending.pop()
        deepest = max(deepest, level)
        pending += [(child, level + 1) for child in node.children]
    return deepest


class _Elaborator:
    def __init__(self, vocabulary: Vocabulary, unfolded: int, budget: _Budget) -> None:
        self.vocabulary = vocabulary
        self.unfolded = unfolded
        self.budget = budget
        self.applications: dict[int, Meaning] = {}

    def elaborate(self, tree: Term, expected: str | None) -> Meaning:
        """The term as Lean elaborates it where `expected` is the expected type."""
        type_ = _largest(self.known(tree), expected) or "nat"
        return Meaning(self.build(tree, type_), type_)

    def known(self, tree: Term) -> str | None:
        """The largest type among the leaves; None when they are numerals and casts only."""
        with self.budget.level():
            return self.known_node(tree)

    def known_node(self, tree: Term) -> str | None:
        match tree.data:
            case "add" | "subtract" | "multiply" | "divide" | "min_of" | "max_of":
                return _largest(self.known(_tree(tree, 0)), self.known(_tree(tree, 1)))
            case "negate" | "inverse" | "group" | "absolute" | "power":
                return self.known(_tree(tree, 0))
            case "ascription":
                return _type(str(tree.children[1]))
            case "number" | "cast":
                return None
            case "natural_ceiling" | "natural_floor":
                return "nat"
            case "ceiling" | "floor":
                return "int"
            case "root":
                return "real"
        return self.known_application(tree)

    def known_application(self, tree: Term) -> str | None:
        head = str(tree.children[0])
        if head in _LATTICE and len(tree.children) == 3:
            return _largest(self.known(_tree(tree, 1)), self.known(_tree(tree, 2)))
        return self.application(tree).type

    def build(self, tree: Term, type_: str) -> Expression:
        """The expression of an operator tree whose leaves all become `type_`."""
        with self.budget.level():
            return self.node(tree, type_)

    def node(self, tree: Term, type_: str) -> Expression:
        integral = type_ in ("nat", "int")
        match tree.data:
            case "number":
                literal = str(tree.children[0])
                if "." in literal and integral:
                    raise OutsideError(f"{literal} in ℕ or ℤ")
                return Number(literal)
            case "group":
                return self.build(_tree(tree, 0), type_)
            case "add" | "multiply" | "subtract" | "divide":
                operator = _OPERATORS[tree.data]
                if operator == "-" and type_ == "nat":
                    raise OutsideError("truncated subtraction in ℕ")
                if operator == "/" and integral:
                    raise OutsideError("truncated division in ℕ or ℤ")
                left, right = self.build(_tree(tree, 0), type_), self.build(_tree(tree, 1), type_)
                return Operation(operator, left, right)
            case "negate":
                if type_ == "nat":
                    raise OutsideError("a negative number in ℕ")
                return Negation(self.build(_tree(tree, 0), type_))
            case "inverse":
                if integral:
                    raise OutsideError("an inverse in ℕ or ℤ")
                return Operation("/", Number("1"), self.build(_tree(tree, 0), type_))
            case "power":
                return self.power(tree, type_)
            case "min_of" | "max_of":
                return self.lattice(_GROUPS[tree.data], [_tree(tree, 0), _tree(tree, 1)], type_)
        return self.leaf(tree, type_)

    def leaf(self, tree: Term, type_: str) -> Expression:
        """A leaf of an operator tree: elaborated on its own, then cast to `type_`."""
        match tree.data:
            case "ascription":
                ascribed = _type(str(tree.children[1]))
                found = self.elaborate(_tree(tree, 0), ascribed)
                if found.type != ascribed:
                    raise OutsideError(f"a term of a larger type ascribed to {tree.children[1]}")
            case "cast":
                found = self.elaborate(_tree(tree, 0), None)
            case "natural_ceiling" | "natural_floor" | "ceiling" | "floor":
                found = self.rounding(tree)
            case "absolute":
                found = self.elaborate(_tree(tree, 0), None)
                found = Meaning(Call("abs", (found.expression,)), found.type)
            case "root":
                found = self.function("sqrt", _tree(tree, 0))
            case "call" if str(tree.children[0]) in _LATTICE and len(tree.children) == 3:
                function = _LATTICE[str(tree.children[0])]
                return self.lattice(function, [_tree(tree, 1), _tree(tree, 2)], type_)
            case _:
                found = self.application(tree)
        if _RANK[found.type] > _RANK[type_]:
            raise OutsideError(f"a term of type {found.type} where {type_} is expected")
        return found.expression

    def power(self, tree: Term, type_: str) -> Expression:
        base = self.build(_tree(tree, 0), type_)
        exponent_tree = _tree(tree, 1)
        if self.known(exponent_tree) is None and _divides_or_subtracts(exponent_tree):
            raise OutsideError("an exponent with / or - and no ascription elaborates in ℕ")
        exponent = self.elaborate(exponent_tree, None)
        if exponent.type == "rat":
            raise OutsideError("a rational exponent")
        if exponent.type == "real" and type_ != "real":
            raise OutsideError(f"a real exponent of a base in {type_}")
        if exponent.type == "int" and type_ in ("nat", "int"):
            raise OutsideError("an integer exponent of an integer")
        return Operation("^", base, exponent.expression)

    def lattice(self, function: str, arguments: list[Term], type_: str) -> Expression:
        own = _largest(*(self.known(argument) for argument in arguments)) or "nat"
        if _RANK[own] > _RANK[type_]:
            raise OutsideError(f"{function} of type {own} where {type_} is expected")
        return Call(function, tuple(self.build(argument, own) for argument in arguments))

    def rounding(self, tree: Term) -> Meaning:
        argument = self.elaborate(_tree(tree, 0), None)
        function = "ceil" if tree.data in ("ceiling", "natural_ceiling") else "floor"
        rounded = Call(function, (argument.expression,))
        if tree.data in ("ceiling", "floor"):
            return Meaning(rounded, "int")
        return Meaning(Call("max", (Number("0"), rounded)), "nat")

    def function(self, function: str, argument: Term) -> Meaning:
        return Meaning(Call(function, (self.elaborate(argument, "real").expression,)), "real")

    def application(self, tree: Term) -> Meaning:
        """A name, or a name applied to arguments: an atom the user named, a function, or a definition."""
        if id(tree) not in self.applications:
            self.budget.spend()
            self.applications[id(tree)] = self.applied(tree)
        return self.applications[id(tree)]

    def applied(self, tree: Term) -> Meaning:
        head, arguments = str(tree.children[0]), [a for a in tree.children[1:] if isinstance(a, Tree)]
        atom = self.vocabulary.atoms.get(_atom_text(tree))
        if atom:
            return atom
        if head in _REAL_FUNCTIONS and len(arguments) == 1:
            return self.function(_REAL_FUNCTIONS[head], arguments[0])
        if head in _UNQUALIFIED and len(arguments) == 1:
            if not self.vocabulary.open_real:
                raise OutsideError(f"unqualified {head} without open Real alone")
            return self.function(_UNQUALIFIED[head], arguments[0])
        if head in ("Nat.cast", "Int.cast", "Rat.cast") and len(arguments) == 1:
            return self.elaborate(arguments[0], head.split(".", 1)[0].lower())
        definition = self.vocabulary.definition(head)
        if definition is None:
            raise OutsideError(f"unmapped {_atom_text(tree)}")
        return self.unfold(head, definition, arguments)

    def unfold(self, head: str, definition: Definition, arguments: list[Term]) -> Meaning:
        if self.unfolded >= _MAX_UNFOLDING:
            raise OutsideError(f"more than {_MAX_UNFOLDING} definitions inside one another")
        if len(arguments) != len(definition.parameters):
            raise OutsideError(f"{head} takes {len(definition.parameters)} explicit arguments")
        atoms = {}
        for (parameter, type_), argument in zip(definition.parameters, arguments, strict=True):
            given = self.elaborate(argument, type_)
            if given.type != type_:
                raise OutsideError(f"an argument of {head} of a larger type")
            atoms[parameter] = given
        inner = Vocabulary(atoms, self.vocabulary.definition, definition.open_real)
        elaborator = _Elaborator(inner, self.unfolded + 1, self.budget)
        found = elaborator.elaborate(parse_term(definition.body), definition.type)
        if found.type != definition.type:
            raise OutsideError(f"the body of {head} has a larger type than {head}")
        return found


def _atom_text(tree: Term) -> str:
    try:
        return atom_text(tree)
    except OutsideError:
        return str(tree.children[0]) + " …"


def _tree(tree: Term, index: int) -> Term:
    child = tree.children[index]
    if not isinstance(child, Tree):
        raise OutsideError("a name where a term is expected")
    return child


def _largest(*types: str | None) -> str | None:
    given = [type_ for type_ in types if type_]
    return max(given, key=_RANK.__getitem__) if given else None


def _type(name: str) -> str:
    if name not in TYPES:
        raise OutsideError(f"the type {name}")
    return TYPES[name]


def _divides_or_subtracts(tree: Tree[Token]) -> bool:
    return any(node.data in ("divide", "subtract", "negate", "inverse") for node in tree.iter_subtrees())

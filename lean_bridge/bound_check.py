"""Compares a constant that the ledger holds with the one in a Lean statement's conclusion."""

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction

from certify.arithmetic.expression import (
    Call,
    Expression,
    ExpressionError,
    Name,
    Negation,
    Operation,
    parse_expression,
)
from constants.ledger import Ledger
from lean_bridge.crosswalk import ConstantResult
from lean_bridge.formula.compare import compare
from lean_bridge.formula.meaning import TYPES, Definition, Meaning, Vocabulary, meaning
from lean_bridge.formula.normal_form import Variable
from lean_bridge.formula.source import source_text
from lean_bridge.formula.statement import Relation, binder_types, bound_names, conclusion
from lean_bridge.formula.term import OutsideError, atom_text, parse_term
from lean_bridge.index import Index
from lean_bridge.maps.entry import ConstantClaim, Entry, Symbol
from lean_bridge.model import Declaration
from lean_bridge.names import Name as LeanName
from lean_bridge.names import parse_name
from lean_bridge.project import Project

# Namespaces with an `exp`, `log` or `sqrt` of their own: with one open, the short names are ambiguous.
_RIVALS = frozenset(
    {"NNReal", "ENNReal", "EReal", "Complex", "Nat", "Int", "Rat", "NormedSpace", "Matrix", "CFC"}
    | {"Ordinal", "Cardinal", "PowerSeries"}
)
_UNUSABLE = frozenset({"shadowed-notation", "unbalanced"})


@dataclass(frozen=True)
class BoundCheck:
    """The project, its index and the ledger: everything a comparison looks things up in."""

    project: Project
    index: Index
    ledger: Ledger

    def check(self, entry: Entry, declaration: Declaration) -> ConstantResult | None:
        """The verdict on the constant that `entry` claims for `declaration`; None where it claims none."""
        claim = entry.constant
        if claim is None:
            return None
        shown = claim.bound or claim.ledger
        text = declaration.type
        try:
            expected = self._expected(claim)
            text = self._side(claim, declaration, entry.symbols)
            found = meaning(text, self._vocabulary(declaration, entry.symbols))
        except OutsideError as error:
            return ConstantResult("outside", shown, text, str(error))
        except _UndecidedError as error:
            return ConstantResult("undecided", shown, text, str(error))
        compared = compare(found, expected, _variables(entry.symbols))
        return ConstantResult(compared.verdict, shown, text, compared.reason)

    def _expected(self, claim: ConstantClaim) -> Expression:
        """The ledger's constant, in the expression `bound` where the map gives one and calls it C there."""
        constant = self.ledger.constants.get(claim.ledger)
        try:
            value = constant.value if constant else parse_expression(claim.ledger)
            return _replaced(parse_expression(claim.bound), value) if claim.bound else value
        except ExpressionError as error:
            known = "" if constant else f"; {claim.ledger!r} is no id of the ledger"
            raise OutsideError(f"{error}{known}") from None

    def _side(self, claim: ConstantClaim, declaration: Declaration, symbols: tuple[Symbol, ...]) -> str:
        """The text of the side that holds the constant."""
        unusable = sorted(_UNUSABLE & set(declaration.flags))
        if unusable:
            raise OutsideError(f"the statement is flagged {', '.join(unusable)}")
        relations = [
            relation
            for relation in conclusion(declaration.type)
            if claim.relation is None or relation.sign == claim.relation
        ]
        if claim.occurrence is not None:
            if claim.occurrence > len(relations):
                raise OutsideError(f"the conclusion has {len(relations)} such relations")
            return _text(relations[claim.occurrence - 1], claim)
        vocabulary = self._vocabulary(declaration, symbols)
        fitting: list[str] = []
        reasons: list[str] = []
        for relation in relations:
            text = _text(relation, claim)
            try:
                meaning(text, vocabulary)
                fitting.append(text)
            except OutsideError as error:
                reasons.append(str(error))
        if len(fitting) > 1:
            raise _UndecidedError(f"{len(fitting)} relations of the conclusion fit; name one by `occurrence`")
        if fitting:
            return fitting[0]
        raise OutsideError("; ".join(reasons) or "the conclusion has no such relation")

    def _vocabulary(self, declaration: Declaration, symbols: tuple[Symbol, ...]) -> Vocabulary:
        atoms = {
            _as_compared(text): Meaning(Name(symbol.name), symbol.type) for symbol in symbols for text in symbol.lean
        }
        bound: set[str] = set()
        for text in (declaration.signature, *source_text(self.project.root / declaration.file).variables()):
            bound |= bound_names(text)
            _check_types(atoms, binder_types(text))

        def definition(text: str) -> Definition | None:
            name = parse_name(text)
            if name is None:
                return None
            if name[0] in bound:
                raise OutsideError(f"{name[0]} is a variable of the statement; declare it as a symbol")
            return self._definition(declaration, name)

        return Vocabulary(atoms, definition, self._open_real(declaration))

    def _definition(self, user: Declaration, name: LeanName) -> Definition | None:
        """The definition that `name` can mean where `user` stands. Raises OutsideError if several can."""
        if "*" in user.opens:
            raise OutsideError("too many namespaces are open to tell what a name means")
        owner = parse_name(user.name) or ()
        scopes: list[LeanName] = [owner[:length] for length in range(len(owner))]
        opened = [parse_name(text.rstrip("*")) or () for text in user.opens]
        scopes += [(*scope, *space) for space in opened for scope in [(), *scopes[1:]]]
        sites = {
            (site.file, site.keyword): site
            for scope in scopes
            for site in self.index.constants((*scope, *name))
            if site.kind != "local"
        }
        if not sites:
            return None
        if len(sites) > 1:
            raise OutsideError(f"{'.'.join(name)} can mean several declarations")
        (site,) = sites.values()
        if site.kind not in ("def", "abbrev") or _UNUSABLE & set(site.flags):
            raise OutsideError(f"{site.name} is a {site.kind}, not a plain definition")
        parameters, type_, body = source_text(self.project.root / site.file).definition(site)
        return Definition(parameters, type_, body, self._open_real(site))

    def _open_real(self, declaration: Declaration) -> bool:
        """Whether `exp`, `log`, `sqrt` can only mean those of Real where the declaration stands."""
        if "*" in declaration.opens:
            return False
        namespaces = {*(parse_name(declaration.name) or ()), *(text.rstrip("*") for text in declaration.opens)}
        if any(part in _RIVALS for text in namespaces for part in text.split(".")):
            return False
        index = self.index
        if any(index.by_suffix((name,)) or index.constants((name,)) for name in ("exp", "log", "sqrt")):
            return False
        return "Real" in declaration.opens or declaration.name.startswith("Real.")


class _UndecidedError(Exception):
    """More than one reading is possible."""


def _check_types(atoms: Mapping[str, Meaning], types: Mapping[str, set[str]]) -> None:
    """Raise OutsideError where the source binds a symbol with another type than the map says."""
    for name, atom in atoms.items():
        for text in types.get(name, ()):
            if TYPES.get(text) != atom.type:
                raise OutsideError(f"{name} is bound with type {text}, the map says {atom.type}")


def _as_compared(text: str) -> str:
    """The Lean text of a symbol without casts and needless brackets, as atoms of a statement are compared."""
    try:
        return atom_text(parse_term(text))
    except OutsideError:
        return " ".join(text.split())


def _text(relation: Relation, claim: ConstantClaim) -> str:
    side = claim.side or ("left" if relation.sign in ("≥", ">") else "right")
    return relation.left if side == "left" else relation.right


def _variables(symbols: tuple[Symbol, ...]) -> dict[str, Variable]:
    return {
        symbol.name: Variable(
            integral=symbol.type in ("nat", "int"),
            positive=symbol.positive,
            least=Fraction(0) if symbol.type == "nat" else None,
        )
        for symbol in symbols
    }


def _replaced(expression: Expression, constant: Expression) -> Expression:
    """The expression with the name C replaced."""
    match expression:
        case Name("C"):
            return constant
        case Negation(operand):
            return Negation(_replaced(operand, constant))
        case Operation(symbol, left, right):
            return Operation(symbol, _replaced(left, constant), _replaced(right, constant))
        case Call(function, arguments):
            return Call(function, tuple(_replaced(argument, constant) for argument in arguments))
    return expression

"""The closed inequalities of reports as Coq lemmas, `0 <= rhs - lhs` or `0 < rhs - lhs`."""

from __future__ import annotations

from collections import Counter

from certify.arithmetic.expression import Call, Expression, Negation, Number, Operation
from certify.claims.coq.terms import NotInCoq, in_comment
from certify.report.figures import count, plural
from certify.report.reported_inequalities import ReportedInequality, ReportedInstance, ReportedStatement

MAX_WITNESS = 160
MAX_EXPONENT = 1_000
"""Larger exponents are integers of Coq, not natural numbers in unary."""

MAX_LINE = 110

_SUM, _PRODUCT, _APPLICATION, _ATOM = range(4)


class ClosedLemmas:
    """The text for some reports, the lemmas in it, and the inequalities that are comments only, with the reason.

    The lemmas of one statement are numbered through all reports.
    """

    def __init__(self) -> None:
        self.parts: list[str] = []
        self.lemmas: list[str] = []
        self.left_out: dict[str, str] = {}
        self._numbers: Counter[str] = Counter()

    def add(self, report: ReportedInstance) -> None:
        """Take up one report."""
        self.parts.append(
            f"\n(* ---- {in_comment(report.path)}, sha256 {in_comment(report.sha256)} ----\n"
            "   Ceilings (J, B, r, m) and values that are rational stand as the numbers that certify found. *)"
        )
        for statement in report.statements:
            self._statement(statement)

    def _statement(self, statement: ReportedStatement) -> None:
        lines = [
            f"{statement.id}: {statement.title} ({statement.source}); {statement.verdict}",
            f"  claim: {statement.claim}",
            *(f"  left out, {plural(number, 'case', 'cases')}: {why}" for why, number in statement.left_out.items()),
        ]
        if statement.closed and not statement.inequalities:
            lines.append("  no inequality between closed formulas")
        body = "\n   ".join(in_comment(line) for line in lines)
        self.parts.append(f"\n(* {body} *)")
        stem = "case_" + "".join(c if c.isascii() and c.isalnum() else "_" for c in statement.id)
        for inequality in statement.inequalities:
            self._numbers[stem] += 1
            self._inequality(f"{stem}_{self._numbers[stem]}", inequality)

    def _inequality(self, name: str, inequality: ReportedInequality) -> None:
        witness = in_comment(inequality.witness)
        shown = witness if len(witness) <= MAX_WITNESS else f"{witness[:MAX_WITNESS]}..."
        cases = "" if inequality.cases == 1 else f"for {count(inequality.cases)} cases"
        remark = "; ".join(part for part in (shown, cases) if part) or "no witness"
        try:
            lemma = closed_lemma(name, inequality.lhs, inequality.rhs, strict=inequality.strict)
        except NotInCoq as reason:
            self.left_out[name] = str(reason)
            sides = f"{inequality.lhs.text()} {'<' if inequality.strict else '<='} {inequality.rhs.text()}"
            self.parts.append(f"(* {remark}\n   left out: {name}, {in_comment(f'{sides}: {reason}')} *)")
            return
        self.lemmas.append(name)
        self.parts.append(f"(* {remark} *)\n{lemma}")


def closed_lemma(name: str, lhs: Expression, rhs: Expression, *, strict: bool) -> str:
    """`0 <= rhs - lhs` between numbers (`<` if strict), as a lemma with its proof. Raises NotInCoq."""
    claim, subtrahend = f"0 {'<' if strict else '<='} {_operand(rhs, _SUM)}", f"- {_operand(lhs, _PRODUCT)}."
    lines = [f"Lemma {name} :", claim, subtrahend]
    separator = " " if sum(len(line) + 1 for line in lines) <= MAX_LINE else "\n  "
    return f"{separator.join(lines)}\nProof. decided. Qed."


def _term(expression: Expression) -> tuple[str, int]:
    """The expression as it is written, and how tightly its outermost operation binds: nothing is evaluated."""
    match expression:
        case Number():
            return _number(expression)
        case Negation(operand):
            return f"(- {_operand(operand, _APPLICATION)})", _ATOM
        case Operation("^", base, exponent):
            return _power(base, exponent)
        case Operation(symbol, left, right):
            own = _PRODUCT if symbol in "*/" else _SUM
            return f"{_operand(left, own)} {symbol} {_operand(right, own + 1)}", own
        case Call("min" | "max" as function, arguments):
            result = _operand(arguments[-1], _ATOM)
            for argument in reversed(arguments[:-1]):
                result = f"(R{function} {_operand(argument, _ATOM)} {result})"
            return result, _ATOM
        case Call(function, (argument,)) if function in _FUNCTIONS:
            return f"{_FUNCTIONS[function]} {_operand(argument, _ATOM)}", _APPLICATION
        case Call(function):
            raise NotInCoq(f"`interval` has no {function}")
    raise NotInCoq(f"no Coq term for {expression.text()}")


_FUNCTIONS = {"exp": "exp", "log": "ln", "sqrt": "sqrt", "abs": "Rabs"}


def _operand(expression: Expression, least: int) -> str:
    text, own = _term(expression)
    return text if own >= least else f"({text})"


def _number(number: Number) -> tuple[str, int]:
    value = number.rational
    p, q = abs(value.p), value.q
    if value < 0:
        return f"(- {p})" if q == 1 else f"(- ({p} / {q}))", _ATOM
    return (str(p), _ATOM) if q == 1 else (f"{p} / {q}", _PRODUCT)


def _power(base: Expression, exponent: Expression) -> tuple[str, int]:
    negative = isinstance(exponent, Negation)
    literal = exponent.operand if isinstance(exponent, Negation) else exponent
    if not isinstance(literal, Number) or literal.rational.q != 1:
        raise NotInCoq("a power whose exponent is not written as an integer")
    value = -literal.rational.p if negative else literal.rational.p
    text = _operand(base, _ATOM)
    if abs(value) > MAX_EXPONENT:
        return f"powerRZ {text} ({value})", _APPLICATION
    return (f"{text} ^ {value}", _APPLICATION) if value >= 0 else (f"(/ {text} ^ {-value})", _ATOM)

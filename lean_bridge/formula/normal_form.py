"""An exact normal form of real expressions: those with the same form are equal. Sound, not complete.

A form is a sum of monomials: rational coefficients, generators with rational exponents. Generators are
variables, e, roots of primes, logarithms, and whatever has no better form (`min`, a sum under a root).
Rules that need a sign (√(ab) = √a·√b, log(ab) = log a + log b, x·x⁻¹ = 1) are used only where the sign
follows from what the user said of the variables; elsewhere the expression is kept whole, as an unknown
function of the form of its argument. Functions are Lean's total ones: √ of a negative number and 1/0 are
some number, the same on both sides.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from math import gcd, lcm

from certify.arithmetic.expression import Call, Expression, Name, Negation, Number, Operation

_MAX_TERMS = 2_000
_MAX_BITS = 1 << 16
_MAX_EXPANDED_POWER = 64
_TRIAL_LIMIT = 1 << 16

Monomial = tuple[tuple[str, Fraction], ...]
Form = dict[Monomial, Fraction]
_ONE: Monomial = ()


class TooLargeError(Exception):
    """The normal form would be too large to compute."""


@dataclass(frozen=True, slots=True)
class Variable:
    """What is known of a variable: `integral` for ℕ and ℤ, `least` a lower bound, `positive` if above 0."""

    integral: bool = False
    positive: bool = False
    least: Fraction | None = None


@dataclass(frozen=True, slots=True)
class _Generator:
    """`positive` implies `least` ≥ 0. `inside` is the form that `log`, `exp` or a root was taken of."""

    positive: bool = False
    least: Fraction | None = None
    integral: bool = False
    inside: "Form | None" = None


class NormalForms:
    """Computes normal forms of expressions over the same variables."""

    def __init__(self, variables: Mapping[str, Variable]) -> None:
        self._generators: dict[str, _Generator] = {"e": _Generator(True, Fraction(2))}
        for name, known in variables.items():
            least = known.least
            if known.positive:
                least = max(least or Fraction(0), Fraction(1 if known.integral else 0))
            self._generators[f"${name}"] = _Generator(known.positive, least, known.integral)

    def key(self, expression: Expression) -> str:
        """Text that two expressions share only if they are equal wherever the variables are as declared.

        Raises TooLargeError.
        """
        return _key(self._form(expression))

    def _form(self, expression: Expression) -> Form:
        match expression:
            case Number():
                rational = expression.rational
                return _rational(Fraction(int(rational.p), int(rational.q)))
            case Name():
                return {((f"${expression.identifier}", Fraction(1)),): Fraction(1)}
            case Negation():
                return _scaled(self._form(expression.operand), Fraction(-1))
            case Operation():
                return self._operation(expression)
            case Call():
                return self._call(expression.function, [self._form(a) for a in expression.arguments])
        raise TypeError(f"{type(expression).__name__} has no normal form")

    def _operation(self, expression: Operation) -> Form:
        left, right = self._form(expression.left), self._form(expression.right)
        match expression.symbol:
            case "+":
                return _sum(left, right)
            case "-":
                return _sum(left, _scaled(right, Fraction(-1)))
            case "*":
                return self._product(left, right)
            case "/":
                return self._product(left, self._power(right, Fraction(-1)))
        exponent = _constant(right)
        if exponent is not None:
            return self._power(left, exponent)
        if self._positive(left):
            return self._exp(self._product(right, self._log(left)))
        return self._opaque("power", [left, right])

    def _call(self, function: str, arguments: list[Form]) -> Form:
        (first, *_) = arguments
        match function:
            case "exp":
                return self._exp(first)
            case "log":
                return self._log(first)
            case "sqrt":
                return self._power(first, Fraction(1, 2))
            case "min" | "max":
                return self._lattice(function, arguments)
            case "abs":
                if self._nonnegative(first):
                    return first
                return self._opaque("abs", arguments, _Generator(False, Fraction(0)))
        return self._rounded(function, first)

    # Sums and products

    def _product(self, left: Form, right: Form) -> Form:
        if len(left) * len(right) > _MAX_TERMS:
            raise TooLargeError
        result: Form = {}
        for mono_a, a in left.items():
            for mono_b, b in right.items():
                result = _sum(result, self._monomial_product(mono_a, mono_b, a * b))
        return result

    def _monomial_product(self, first: Monomial, second: Monomial, coefficient: Fraction) -> Form:
        exponents = dict(first)
        for generator, exponent in second:
            exponents[generator] = exponents.get(generator, Fraction(0)) + exponent
        factors: list[Form] = []
        for generator, exponent in list(exponents.items()):
            whole = exponent.numerator // exponent.denominator
            if generator.startswith("#") and whole:
                coefficient *= _integer_power(Fraction(int(generator[1:])), whole)
                exponents[generator] = exponent - whole
            elif generator.startswith("(") and whole >= 1:
                inside = self._generators[generator].inside or {}
                factors.append(self._power(inside, Fraction(whole)))
                exponents[generator] = exponent - whole
        monomial = tuple(sorted((g, e) for g, e in exponents.items() if e))
        result: Form = {monomial: coefficient} if coefficient else {}
        for factor in factors:
            result = self._product(result, factor)
        return result

    # Powers

    def _power(self, base: Form, exponent: Fraction) -> Form:
        if exponent == 0:
            return _rational(Fraction(1))
        if exponent == 1 or not base:
            # 0 to any power other than 0 is 0 in Lean, 0⁻¹ included.
            return base
        if len(base) == 1:
            return self._monomial_power(base, exponent)
        if exponent.denominator == 1 and 0 < exponent <= _MAX_EXPANDED_POWER:
            result = base
            for _ in range(int(exponent) - 1):
                result = self._product(result, base)
            return result
        if not self._positive(base):
            return self._opaque(f"^{exponent}", [base])
        content, monomial, primitive = self._factored(base)
        outside = self._monomial_power({monomial: content}, exponent)
        return self._product(outside, {((self._sum_generator(primitive), exponent),): Fraction(1)})

    def _monomial_power(self, base: Form, exponent: Fraction) -> Form:
        ((monomial, coefficient),) = base.items()
        if exponent.denominator == 1 and exponent > 0:
            raised = tuple((g, e * exponent) for g, e in monomial)
            result = {_ONE: _integer_power(coefficient, int(exponent))}
            return self._product(result, self._monomial_product(raised, _ONE, Fraction(1)))
        known = coefficient > 0 or exponent.denominator == 1
        if not known or not all(self._generators[g].positive for g, _ in monomial):
            return self._opaque(f"^{exponent}", [base])
        raised = tuple((g, e * exponent) for g, e in monomial)
        result = self._rational_power(coefficient, exponent)
        return self._product(result, self._monomial_product(raised, _ONE, Fraction(1)))

    def _rational_power(self, base: Fraction, exponent: Fraction) -> Form:
        if exponent.denominator == 1:
            return _rational(_integer_power(base, int(exponent)))
        monomial: Monomial = ()
        for prime, count in _factors(base):
            generator = f"#{prime}"
            self._generators.setdefault(generator, _Generator(True, Fraction(1)))
            monomial = tuple(sorted((*monomial, (generator, count * exponent))))
        return self._monomial_product(monomial, _ONE, Fraction(1))

    def _factored(self, form: Form) -> tuple[Fraction, Monomial, Form]:
        """A positive sum as content × monomial × primitive sum."""
        numerators = [abs(c.numerator) for c in form.values()]
        denominators = [c.denominator for c in form.values()]
        content = Fraction(gcd(*numerators), lcm(*denominators))
        common = dict(next(iter(form)))
        for monomial in form:
            exponents = dict(monomial)
            common = {g: min(e, exponents.get(g, Fraction(0))) for g, e in common.items()}
            for g, e in exponents.items():
                if g not in common and e < 0:
                    common[g] = e
        for monomial in form:
            exponents = dict(monomial)
            common = {g: min(e, exponents.get(g, Fraction(0))) for g, e in common.items()}
        shared = tuple(sorted((g, e) for g, e in common.items() if e and self._generators[g].positive))
        inverse = tuple((g, -e) for g, e in shared)
        primitive: Form = {}
        for monomial, coefficient in form.items():
            primitive = _sum(primitive, self._monomial_product(monomial, inverse, coefficient / content))
        return content, shared, primitive

    def _sum_generator(self, form: Form) -> str:
        key = f"({_key(form)})"
        self._generators.setdefault(key, _Generator(True, self._least(form) or Fraction(0), inside=form))
        return key

    # Functions

    def _exp(self, argument: Form) -> Form:
        result = _rational(Fraction(1))
        for monomial, coefficient in argument.items():
            inside = self._log_argument(monomial)
            if monomial == _ONE:
                factor: Form = {(("e", coefficient),): Fraction(1)}
            elif inside is not None:
                factor = self._power(inside, coefficient)
            else:
                generator = f"exp({_key({monomial: Fraction(1)})})"
                form = {monomial: Fraction(1)}
                self._generators.setdefault(generator, _Generator(True, Fraction(0), inside=form))
                factor = {((generator, coefficient),): Fraction(1)}
            result = self._product(result, factor)
        return result

    def _log_argument(self, monomial: Monomial) -> Form | None:
        """The x of a monomial that is log x with x > 0."""
        if len(monomial) == 1 and monomial[0][1] == 1 and monomial[0][0].startswith("log("):
            return self._generators[monomial[0][0]].inside
        return None

    def _log(self, argument: Form) -> Form:
        if not self._positive(argument):
            return self._opaque("ln", [argument])
        if len(argument) == 1:
            ((monomial, content),) = argument.items()
            result: Form = {}
        else:
            content, monomial, primitive = self._factored(argument)
            generator: Form = {((self._sum_generator(primitive), Fraction(1)),): Fraction(1)}
            result = self._log_generator(generator, primitive)
        for prime, count in _factors(content):
            one = self._log_generator(_rational(Fraction(prime)), _rational(Fraction(prime)))
            result = _sum(result, _scaled(one, Fraction(count)))
        for factor, exponent in monomial:
            result = _sum(result, _scaled(self._log_of(factor), exponent))
        return result

    def _log_of(self, generator: str) -> Form:
        known = self._generators[generator]
        if generator == "e":
            return _rational(Fraction(1))
        if generator.startswith("exp(") and known.inside is not None:
            return known.inside
        if generator.startswith("#"):
            prime = _rational(Fraction(int(generator[1:])))
            return self._log_generator(prime, prime)
        form: Form = {((generator, Fraction(1)),): Fraction(1)}
        return self._log_generator(form, form)

    def _log_generator(self, form: Form, bounded: Form) -> Form:
        key = f"log({_key(form)})"
        least = self._least(bounded)
        above_one = least is not None and least >= 1
        positive = least is not None and least > 1
        inside = self._expanded(form)
        self._generators.setdefault(key, _Generator(positive, Fraction(0) if above_one else None, inside=inside))
        return {((key, Fraction(1)),): Fraction(1)}

    def _expanded(self, form: Form) -> Form:
        result: Form = {}
        for monomial, coefficient in form.items():
            result = _sum(result, self._monomial_product(monomial, _ONE, coefficient))
        return result

    def _lattice(self, function: str, arguments: list[Form]) -> Form:
        forms = {_key(form): form for form in arguments}
        constants = [c for form in forms.values() if (c := _constant(form)) is not None]
        others = {key: form for key, form in forms.items() if _constant(form) is None}
        if constants:
            bound = min(constants) if function == "min" else max(constants)
            leasts = [least for form in others.values() if (least := self._least(form)) is not None]
            if function == "min" or not any(least >= bound for least in leasts):
                others[_key(_rational(bound))] = _rational(bound)
        if len(others) == 1:
            (only,) = others.values()
            return only
        every_or_any = all if function == "min" else any
        positive = every_or_any(self._positive(form) for form in others.values())
        nonnegative = every_or_any(self._nonnegative(form) for form in others.values())
        known = _Generator(positive, Fraction(0) if nonnegative else None)
        return self._opaque(function, [others[key] for key in sorted(others)], known)

    def _rounded(self, function: str, argument: Form) -> Form:
        if all(
            c.denominator == 1
            and all(self._generators[g].integral and e > 0 and e.denominator == 1 for g, e in monomial)
            for monomial, c in argument.items()
        ):
            return argument
        positive = function == "ceil" and self._positive(argument)
        least = Fraction(1) if positive else Fraction(0) if self._nonnegative(argument) else None
        return self._opaque(function, [argument], _Generator(positive, least, integral=True))

    def _opaque(self, function: str, arguments: Iterable[Form], known: _Generator | None = None) -> Form:
        """An unknown function of the forms of its arguments."""
        key = f"{function}<{'; '.join(_key(form) for form in arguments)}>"
        self._generators.setdefault(key, known or _Generator())
        return {((key, Fraction(1)),): Fraction(1)}

    # Signs

    def _least(self, form: Form) -> Fraction | None:
        """A lower bound ≥ 0 that follows from lower bounds of the generators, where all terms are ≥ 0."""
        total = Fraction(0)
        for monomial, coefficient in form.items():
            if coefficient < 0:
                return None
            bound = coefficient
            for generator, exponent in monomial:
                known = self._generators[generator]
                if known.least is None or known.least < 0 or (exponent < 0 and not known.positive):
                    return None
                if exponent.denominator == 1 and 0 < exponent <= _MAX_EXPANDED_POWER:
                    bound *= known.least ** int(exponent)
                elif exponent < 0 or known.least < 1:
                    bound = Fraction(0)
            total += bound
        return total

    def _nonnegative(self, form: Form) -> bool:
        return self._least(form) is not None

    def _positive(self, form: Form) -> bool:
        return self._nonnegative(form) and any(
            all(self._generators[g].positive for g, _ in monomial) for monomial in form
        )


def _rational(value: Fraction) -> Form:
    return {_ONE: value} if value else {}


def _constant(form: Form) -> Fraction | None:
    if not form:
        return Fraction(0)
    return form[_ONE] if len(form) == 1 and _ONE in form else None


def _scaled(form: Form, factor: Fraction) -> Form:
    return {monomial: coefficient * factor for monomial, coefficient in form.items()} if factor else {}


def _sum(left: Form, right: Form) -> Form:
    result = dict(left)
    for monomial, coefficient in right.items():
        total = result.get(monomial, Fraction(0)) + coefficient
        if total:
            result[monomial] = total
        else:
            result.pop(monomial, None)
    if len(result) > _MAX_TERMS:
        raise TooLargeError
    return result


def _integer_power(base: Fraction, exponent: int) -> Fraction:
    bits = base.numerator.bit_length() + base.denominator.bit_length()
    if bits * abs(exponent) > _MAX_BITS and base not in (0, 1, -1):
        raise TooLargeError
    return base**exponent


def _factors(value: Fraction) -> list[tuple[int, int]]:
    """Prime powers of a positive rational; a factor beyond trial division stands for itself."""
    counts: dict[int, int] = {}
    for number, sign in ((value.numerator, 1), (value.denominator, -1)):
        prime = 2
        while prime * prime <= number and prime < _TRIAL_LIMIT:
            while number % prime == 0:
                number //= prime
                counts[prime] = counts.get(prime, 0) + sign
            prime += 1 if prime == 2 else 2
        if number > 1:
            counts[number] = counts.get(number, 0) + sign
    return sorted((prime, count) for prime, count in counts.items() if count)


def _key(form: Form) -> str:
    """Canonical text of a form."""
    terms = sorted(
        f"{coefficient}" + "".join(f"*{generator}^{exponent}" for generator, exponent in monomial)
        for monomial, coefficient in form.items()
    )
    return " + ".join(terms) if terms else "0"

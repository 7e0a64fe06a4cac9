"""Claims from TOML text: see the README for the language. Everything wrong is reported at once."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any

from flint import fmpq

from certify.arithmetic.exact import NumberError
from certify.arithmetic.expression import Expression, ExpressionError, Name, parse_expression
from certify.claims.calculus import substituted, substituted_relation
from certify.claims.claim import Chain, Claim, Hints, Slack, Variable
from certify.claims.normal_form import closed_value
from certify.claims.relation import Relation, parse_chain, parse_relation
from certify.instance_file import InputProblem, InstanceError
from certify.instance_node import suggestion
from constants.ledger import Ledger

MAX_FILE_CHARACTERS = 1_000_000
MAX_DEGREE = 6

_RANGE = re.compile(r"(?:(real|integer)\s+)?([\[(])\s*([^,]+?)\s*,\s*([^,]+?)\s*([\])])")
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_CLAIM_KEYS = (
    "id", "source", "title", "note", "variables", "define", "where", "claim", "chain", "abstract",
    "expect", "example", "counterexample", "proof", "parts", "slack", "printed",
)  # fmt: skip
_CHAIN_KEYS = ("state", "next", "start", "step", "term", "bound", "at", "potential")
_PROOF_KEYS = ("steps", "split", "cut", "using", "degree")
_STEP_KEYS = (*_PROOF_KEYS, "have")
_PARTS = ("base", "step", "end")


class _Wrong(Exception):
    """One thing wrong, at the path of the part being read."""


def parse_claims(text: str, ledger: Ledger, source: str = "claims") -> tuple[Claim, ...]:
    """The claims of a file, in its order. Raises InstanceError with everything that is wrong."""
    if len(text) > MAX_FILE_CHARACTERS:
        message = f"longer than {MAX_FILE_CHARACTERS:,} characters: split the file"
        raise InstanceError([InputProblem("$", message)], source)
    try:
        data = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise InstanceError([InputProblem("$", f"not TOML: {error}")], source) from None
    except RecursionError:
        raise InstanceError([InputProblem("$", "nested too deeply: write it flat")], source) from None
    reader = _Reader(ledger)
    claims = reader.claims(data)
    if reader.problems:
        raise InstanceError(reader.problems, source)
    return claims


@dataclass
class _Scope:
    """The names a claim may use, and the constants it did use."""

    names: set[str]
    constants: Mapping[str, Expression]
    used: set[str]


class _Reader:
    def __init__(self, ledger: Ledger) -> None:
        self.problems: list[InputProblem] = []
        self._ledger = {key.replace("-", "_"): c.value for key, c in ledger.constants.items()}

    @contextmanager
    def _at(self, path: str) -> Iterator[None]:
        try:
            yield
        except (_Wrong, ExpressionError, NumberError) as error:
            self.problems.append(InputProblem(path, str(error)))

    def claims(self, data: Mapping[str, Any]) -> tuple[Claim, ...]:
        with self._at("$"):
            _known(data, ("claim", "constants", "title"), "the file")
        constants = dict(self._ledger)
        with self._at("$.constants"):
            for name, text in _table(data.get("constants", {}), "constants").items():
                with self._at(f"$.constants.{name}"):
                    _check_name(name)
                    if name in self._ledger:
                        raise _Wrong("the ledger has a constant of this name: use it, or choose another name")
                    constants[name] = substituted(parse_expression(_string(text)), constants)
                    if constants[name].names():
                        raise _Wrong(f"unknown name {min(constants[name].names())!a}: a constant is a number")
        entries = data.get("claim", [])
        if not isinstance(entries, list) or not entries or not all(isinstance(e, dict) for e in entries):
            self.problems.append(InputProblem("$.claim", "no claims: write each as [[claim]] with an id"))
            return ()
        claims: list[Claim] = []
        for index, entry in enumerate(entries):
            path = f"$.claim[{index}]"
            with self._at(path):
                before = len(self.problems)
                claim = self._claim(entry, path, constants)
                if any(claim.id == other.id for other in claims):
                    raise _Wrong(f"the id {claim.id!a} is given twice: ids are unique in a file")
                if len(self.problems) == before:
                    claims.append(claim)
        return tuple(claims)

    def _claim(self, entry: Mapping[str, Any], path: str, constants: Mapping[str, Expression]) -> Claim:
        _known(entry, _CLAIM_KEYS, "a claim")
        claim_id = _string(entry.get("id", ""), "id")
        if not claim_id or len(claim_id) > 100:
            raise _Wrong("a claim needs an id of at most 100 characters")
        for name, value in _table(entry.get("printed", {}), "printed").items():
            with self._at(f"{path}.printed.{name}"):
                if name not in constants:
                    raise _Wrong(f"unknown constant: {suggestion(name, constants)}")
                constants = {**constants, name: parse_expression(_string(value))}
        scope = _Scope(set(), constants, set())
        variables = tuple(self._variables(entry, path, scope))
        chain_entry = entry.get("chain")
        hidden: set[str] = set()
        if chain_entry is not None:
            hidden = {_string(_table(chain_entry, "chain").get("state", ""), "state")}
        definitions: dict[str, Expression] = {}
        for name, text in _table(entry.get("define", {}), "define").items():
            with self._at(f"{path}.define.{name}"):
                _check_name(name)
                if name in scope.names:
                    raise _Wrong("a variable has this name: choose another")
                definitions[name] = self._expression(text, scope, hidden)
                scope.names.add(name)
        conditions = self._relations(entry.get("where", []), f"{path}.where", scope, hidden)
        conclusions = self._relations(entry.get("claim", []), f"{path}.claim", scope)
        if entry.get("claim") == []:
            raise _Wrong("the claim is empty: write the inequalities")
        chain = None
        if chain_entry is not None:
            chain = self._chain(chain_entry, f"{path}.chain", scope, {v.name for v in variables})
        if ("chain" in entry) == ("claim" in entry):
            raise _Wrong('write either claim = "lhs <= rhs" or a [claim.chain] table, not both or neither')
        if any(relation.is_equation for relation in conclusions):
            raise _Wrong("a claim is an inequality: for an equation write both directions")
        expect = _string(entry.get("expect", "proved"), "expect")
        if expect not in ("proved", "refuted", "undecided"):
            raise _Wrong('expect is "proved", "refuted" or "undecided"')
        parts = {}
        for part, hints in _table(entry.get("parts", {}), "parts").items():
            if part not in _PARTS or chain is None:
                raise _Wrong(f"parts are for a chain, and named {', '.join(_PARTS)}")
            extra = _Scope(scope.names | {chain.next_state}, constants, scope.used)
            parts[part] = self._hints(hints, f"{path}.parts.{part}", extra)
        claim = Claim(
            id=claim_id, variables=variables, definitions=definitions, conditions=conditions,
            conclusions=conclusions, chain=chain, abstract=_string(entry.get("abstract", ""), "abstract"),
            source=_string(entry.get("source", ""), "source"), title=_string(entry.get("title", ""), "title"),
            note=_string(entry.get("note", ""), "note"), expect=expect,
            example=self._point(entry.get("example", {}), f"{path}.example", scope, variables),
            counterexample=self._point(entry.get("counterexample", {}), f"{path}.counterexample", scope, variables),
            hints=self._hints(entry.get("proof", {}), f"{path}.proof", scope), parts=parts,
        )  # fmt: skip
        claim = replace(claim, constants=tuple(sorted(name.replace("_", "-") for name in scope.used)))
        if "slack" in entry:
            with self._at(f"{path}.slack"):
                return replace(claim, slack=self._slack(entry, path, constants))
        return claim

    def _variables(self, entry: Mapping[str, Any], path: str, scope: _Scope) -> Iterator[Variable]:
        for name, text in _table(entry.get("variables", {}), "variables").items():
            with self._at(f"{path}.variables.{name}"):
                _check_name(name)
                yield self._variable(name, _string(text), scope)
            scope.names.add(name)

    def _variable(self, name: str, text: str, scope: _Scope) -> Variable:
        match = _RANGE.fullmatch(text.strip())
        if match is None:
            raise _Wrong(f'{text[:60]!a} is not a range: write one such as "real (0, 1]" or "integer [1, inf)"')
        kind, left, low, high, right = match.groups()
        lower, upper = self._end(low, "-inf", scope), self._end(high, "inf", scope)
        if (lower is None and left == "[") or (upper is None and right == "]"):
            raise _Wrong("an unbounded end is open: write (-inf or inf)")
        is_open = left == "(" or right == ")"
        if lower is not None and upper is not None and (lower > upper or (lower == upper and is_open)):
            raise _Wrong("the range is empty: no value is claimed anything of")
        return Variable(
            name, kind == "integer", lower, upper, left == "(" and lower is not None, right == ")" and upper is not None
        )

    def _end(self, text: str, infinite: str, scope: _Scope) -> fmpq | None:
        if text in (infinite, infinite.lstrip("-")) and not (infinite == "-inf" and text == "inf"):
            return None
        value = closed_value(self._expression(text, _Scope(set(), scope.constants, scope.used)))
        if value is None:
            raise _Wrong(f"the end {text[:40]!a} is not rational: write the condition under where")
        return value

    def _chain(self, entry: Mapping[str, Any], path: str, scope: _Scope, variables: set[str]) -> Chain:
        _known(entry, _CHAIN_KEYS, "a chain")
        for key in _CHAIN_KEYS:
            if key not in entry and key not in ("start",):
                raise _Wrong(f"chain needs {key}")
        state, successor = _string(entry["state"], "state"), _string(entry["next"], "next")
        _check_name(successor)
        if state not in variables or successor in scope.names:
            raise _Wrong("chain.state is one of the variables, and chain.next a name used for nothing else")
        at = _string(entry["at"], "at")
        if at not in ("first", "last"):
            raise _Wrong('chain.at is "first" or "last"')
        wider = _Scope(scope.names | {successor}, scope.constants, scope.used)
        return Chain(
            state=state,
            next_state=successor,
            start=self._relations(entry.get("start", []), f"{path}.start", scope),
            step=self._relations(entry["step"], f"{path}.step", wider),
            term=self._expression(entry["term"], scope),
            bound=self._expression(entry["bound"], scope),
            at_first=at == "first",
            potential=self._expression(entry["potential"], scope),
        )

    def _hints(self, entry: Any, path: str, scope: _Scope) -> Hints:
        return self._read_hints(_table(entry, "proof"), path, scope, _PROOF_KEYS)

    def _read_hints(self, entry: Mapping[str, Any], path: str, scope: _Scope, keys: tuple[str, ...]) -> Hints:
        _known(entry, keys, "a proof")
        steps: list[Mapping[str, Any]] = []
        for index, step in enumerate(_list(entry.get("steps", []), "steps")):
            here = f"{path}.steps[{index}]"
            with self._at(here):
                table = {"have": step} if isinstance(step, str) else _table(step, "a step")
                hints = self._read_hints(table, here, scope, _STEP_KEYS)
                for relation in self._relations(table.get("have", []), here, scope):
                    steps.append({"have": relation, "hints": hints})
        degree = entry.get("degree", 2)
        if not isinstance(degree, int) or isinstance(degree, bool) or not 1 <= degree <= MAX_DEGREE:
            raise _Wrong(f"degree is an integer from 1 to {MAX_DEGREE}")
        cuts = []
        for text in _list(entry.get("cut", []), "cut"):
            relation = parse_relation(_string(text))
            value = closed_value(relation.rhs)
            if not isinstance(relation.lhs, Name) or value is None or not relation.is_equation:
                raise _Wrong('a cut is written "variable = number"')
            cuts.append((relation.lhs.identifier, value))
        return Hints(
            steps=tuple(steps),
            split=self._relations(entry.get("split", []), f"{path}.split", scope),
            cut=tuple(cuts),
            using=self._relations(entry.get("using", []), f"{path}.using", scope),
            degree=degree,
        )

    def _slack(self, entry: Mapping[str, Any], path: str, constants: Mapping[str, Expression]) -> Slack:
        table = _table(entry["slack"], "slack")
        _known(table, ("constant", "proved", "refuted", "counterexample"), "slack")
        name = _string(table.get("constant", ""), "constant")
        if name not in constants:
            raise _Wrong(f"unknown constant {name[:40]!a}: {suggestion(name, constants)}")
        values = {}
        for key in ("proved", "refuted"):
            value = closed_value(parse_expression(_string(table.get(key, ""), key)))
            if value is None:
                raise _Wrong(f"slack.{key} is a rational number")
            values[key] = value
        own = closed_value(constants[name])
        if own is None:
            raise _Wrong("slack is reported for rational constants")
        bare = {key: value for key, value in entry.items() if key != "slack"}
        if "counterexample" in table:
            bare["counterexample"] = table["counterexample"]
        variants = {
            key: replace(
                self._claim(bare, path, {**constants, name: parse_expression(str(value))}),
                id=f"{bare['id']}/{name.replace('_', '-')}={value}",
            )
            for key, value in values.items()
        }
        return Slack(
            name.replace("_", "-"), own, variants["proved"], values["proved"], variants["refuted"], values["refuted"]
        )

    def _point(self, entry: Any, path: str, scope: _Scope, variables: tuple[Variable, ...]) -> dict[str, Expression]:
        point = {}
        for name, text in _table(entry, "a point").items():
            with self._at(f"{path}.{name}"):
                if name not in {v.name for v in variables}:
                    raise _Wrong("no variable has this name")
                point[name] = self._expression(text, _Scope(set(), scope.constants, set()))
        return point

    def _relations(self, entry: Any, path: str, scope: _Scope, hidden: set[str] | None = None) -> tuple[Relation, ...]:
        relations: list[Relation] = []
        texts = [entry] if isinstance(entry, str) else _list(entry, "a list of relations")
        for index, text in enumerate(texts):
            with self._at(path if isinstance(entry, str) else f"{path}[{index}]"):
                for relation in parse_chain(_string(text)):
                    values = self._resolve(relation.names(), scope, hidden)
                    relations.append(substituted_relation(relation, values))
        return tuple(relations)

    def _expression(self, text: Any, scope: _Scope, hidden: set[str] | None = None) -> Expression:
        expression = parse_expression(_string(text))
        return substituted(expression, self._resolve(expression.names(), scope, hidden))

    def _resolve(self, names: frozenset[str], scope: _Scope, hidden: set[str] | None = None) -> dict[str, Expression]:
        values = {}
        for name in sorted(names - scope.names):
            if name not in scope.constants:
                known = sorted(scope.names | set(scope.constants))
                raise _Wrong(f"unknown name {name[:40]!a}: {suggestion(name, known)}")
            values[name] = scope.constants[name]
            scope.used.add(name)
        for name in names & (hidden or set()):
            raise _Wrong(f"{name} is the state of the chain: use it in start, step, term, bound and potential only")
        return values


def _known(entry: Mapping[str, Any], keys: tuple[str, ...], what: str) -> None:
    for key in entry:
        if key not in keys:
            raise _Wrong(f"{what} has no field {key[:40]!a}: {suggestion(key, keys)}")


def _check_name(name: str) -> None:
    if not _NAME.fullmatch(name) or len(name) > 60:
        raise _Wrong("a name has letters, digits and _, at most 60 of them")
    parse_name = parse_expression(name)
    if not isinstance(parse_name, Name):
        raise _Wrong("the name of a function cannot be used")


def _table(value: Any, what: str) -> Mapping[str, Any]:
    if not isinstance(value, dict):
        raise _Wrong(f"{what} is a table of names and texts")
    return value


def _list(value: Any, what: str) -> list[Any]:
    if not isinstance(value, list):
        raise _Wrong(f"{what} is a list")
    return value


def _string(value: Any, what: str = "") -> str:
    if not isinstance(value, str):
        raise _Wrong(f"{what or 'the value'} is text in quotes, so that no number passes through a float")
    return value

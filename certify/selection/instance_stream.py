"""Reading a stream: sums or records, thresholds, noise, switches, neighbours, one outcome to judge."""

from __future__ import annotations

from collections.abc import Mapping

from flint import fmpq

from certify.arithmetic.expression import Number
from certify.instance_file import JsonNumber, quoted
from certify.instance_node import Node
from certify.quantity import Quantity
from certify.selection.instance_model import (
    Against,
    Box,
    GeometricNoise,
    LaplaceNoise,
    Neighbours,
    PrivacyLevel,
    ReplaceOne,
    Scores,
    StreamSpec,
    Vector,
)
from certify.selection.laws.geometric import Ratio
from constants.ledger import Ledger

MAX_QUERIES = 2_000
MAX_RECORDS = 10_000
MAX_SUM_BITS = 1_024

NOISES = ("laplace", "geometric")
RESAMPLE = ("never", "after-yes", "per-query")
NEIGHBOUR_WORDS = ("box", "replace-one")

STREAM_FIELDS = (
    "sums", "records", "thresholds", "noise", "threshold_scale", "query_scale", "threshold_ratio", "query_ratio",
    "strict", "max_yes", "resample", "release_value", "neighbours", "n", "output", "value",
)  # fmt: skip
DEFAULT_SCALES = {"threshold_scale": "svt-threshold-scale", "query_scale": "svt-query-scale"}
"""Scales that are left out are these constants over ε."""


def read_stream(node: Node, level: PrivacyLevel | None, ledger: Ledger) -> StreamSpec | None:
    """The stream; None where something is wrong with it or with ε, all of which is reported."""
    fields = node.fields({}, STREAM_FIELDS)
    before = len(node.problems)
    scores = read_scores(node, fields, MAX_QUERIES)
    count = None if scores is None else len(scores.sums)
    thresholds = _thresholds(node, fields, count)
    noise = _noise(node, fields, level, ledger)
    strict = _flag(fields, "strict", default=True)
    release_value = _flag(fields, "release_value", default=False)
    max_yes = _max_yes(fields)
    resample = (fields["resample"].one_of(RESAMPLE, "a resampling rule") or "") if "resample" in fields else "never"
    n = read_rows(fields, scores)
    neighbours = read_neighbours(fields, scores, count)
    value = fields["value"].rational() if "value" in fields else None
    output = _output(fields["output"], count, max_yes) if "output" in fields else None
    if ("value" in fields) != release_value:
        hint = "give the released value to judge" if release_value else 'remove it, or set "release_value": true'
        node.report_missing("value", hint) if release_value else fields["value"].report(f"is not released: {hint}")
    if release_value and ("output" not in fields or (output is not None and not output.endswith("y"))):
        node.report("releases a value, so the outcome must be fixed: give an output that ends in yes, and its value")
    if release_value and isinstance(noise, GeometricNoise) and not isinstance(neighbours, Against):
        node.report('releases a value with geometric noise, which lives on the integers: give {"against": […]}')
    if isinstance(neighbours, Against) and n is not None and not all(0 <= f <= n for f in neighbours.values):
        fields["neighbours"].report("has a sum outside [0,n]: correct it")
    if release_value and max_yes != 1:
        node.report('releases a value, which is read for one yes only: set "max_yes": 1')
    if len(node.problems) > before or scores is None or thresholds is None or noise is None or neighbours is None:
        return None
    return StreamSpec(
        scores, thresholds, noise, strict, max_yes, resample, release_value, neighbours, n, output, value
    )  # fmt: skip


def read_scores(node: Node, fields: Mapping[str, Node], most: int) -> Scores | None:
    """``sums``, or the sums of ``records`` clipped to [0,1]."""
    if ("sums" in fields) == ("records" in fields):
        node.report("needs either sums or records: give the sums of the queries, or one row of values for each user")
        return None
    if "sums" in fields:
        sums = read_vector(fields["sums"], most, "sums")
        return None if sums is None else Scores(sums)
    rows = fields["records"].elements(1, MAX_RECORDS, "records")
    values = [read_vector(row, most, "values") for row in rows]
    if not rows or any(row is None for row in values):
        return None
    known = [row for row in values if row is not None]
    for row, read in zip(rows, known, strict=True):
        if len(read) != len(known[0]):
            row.report(f"has {len(read)} values where the first record has {len(known[0])}: give as many")
            return None
    clipped = sum(1 for row in known for value in row if not 0 <= value <= 1)
    records = tuple(tuple(min(max(value, fmpq(0)), fmpq(1)) for value in row) for row in known)
    sums = tuple(sum(column, fmpq(0)) for column in zip(*records, strict=True))
    return Scores(sums, records, clipped)


def read_vector(node: Node, most: int, what: str) -> Vector | None:
    """A list of rationals of bounded length."""
    elements = node.elements(1, most, what)
    values = [element.rational() for element in elements]
    for element, value in zip(elements, values, strict=True):
        if value is not None and value.p.bit_length() + value.q.bit_length() > MAX_SUM_BITS:
            element.report(f"has more than {MAX_SUM_BITS:,} bits: round it")
            return None
    known = tuple(value for value in values if value is not None)
    return known if elements and len(known) == len(elements) else None


def read_rows(fields: Mapping[str, Node], scores: Scores | None) -> int | None:
    """``n``, agreeing with the records and bounding the sums; the number of records where it is left out."""
    count = None if scores is None or scores.records is None else len(scores.records)
    if "n" not in fields:
        return count
    n = fields["n"].integer(1, 2**1000)
    if n is None or scores is None:
        return n
    if count is not None and n != count:
        fields["n"].report(f"{n:,} is not the number of records, {count:,}: correct it or leave it out")
    elif not all(0 <= value <= n for value in scores.sums):
        fields["n"].report("is the number of users, but a sum lies outside [0,n]: correct the sums or n")
    return n


def read_neighbours(fields: Mapping[str, Node], scores: Scores | None, count: int | None) -> Neighbours | None:
    """The neighbours, `Box` by default."""
    if "neighbours" not in fields:
        return Box()
    node = fields["neighbours"]
    if isinstance(node.value, dict):
        given = node.fields({"against": "give the sums of the one neighbour"})
        values = read_vector(given["against"], MAX_QUERIES, "sums") if "against" in given else None
        if values is not None and count is not None and len(values) != count:
            given["against"].report(f"has {len(values)} sums, but there are {count}: give one for each")
            return None
        if values is not None and scores is not None and not _one_user_apart(values, scores.sums):
            given["against"].report("differs by more than 1 in a sum, which one user cannot do: give a neighbour")
            return None
        return None if values is None else Against(values)
    word = node.one_of(NEIGHBOUR_WORDS, 'a kind of neighbours (or {"against": […]})')
    if word == "replace-one" and scores is not None and scores.records is None:
        node.report("replaces a record, but there are sums only: give records, or write box")
        return None
    return None if word is None else Box() if word == "box" else ReplaceOne()


def _one_user_apart(values: Vector, sums: Vector) -> bool:
    return all(abs(a - b) <= 1 for a, b in zip(values, sums, strict=True))


def read_scale(node: Node | None, default: fmpq, level: PrivacyLevel | None) -> fmpq | None:
    """A scale: a rational or an expression in epsilon with a rational value, at least 0; ``default/ε`` if left out."""
    names: dict[str, Quantity | None] = {}
    if level is not None and level.epsilon is not None:
        names["epsilon"] = Quantity(Number(str(level.epsilon)), {})
    if node is None:
        if level is None or level.epsilon is None:
            return None
        return default / level.epsilon
    if node.value in (JsonNumber("0"), "0"):
        return fmpq(0)
    quantity = node.quantity(names)
    exact = None if quantity is None else quantity.exact()
    if quantity is not None and exact is None:
        node.report(f"{node.shown} is not rational: write a rational scale")
    return exact


def _thresholds(node: Node, fields: Mapping[str, Node], count: int | None) -> Vector | None:
    if "thresholds" not in fields:
        node.report_missing("thresholds", "give one number, or one for each query")
        return None
    given = fields["thresholds"]
    if not isinstance(given.value, list):
        value = given.rational()
        return None if value is None or count is None else (value,) * count
    values = read_vector(given, MAX_QUERIES, "thresholds")
    if values is not None and count is not None and len(values) != count:
        given.report(f"has {len(values)} thresholds, but there are {count} queries: give one, or one for each")
        return None
    return values


def _noise(
    node: Node, fields: Mapping[str, Node], level: PrivacyLevel | None, ledger: Ledger
) -> LaplaceNoise | GeometricNoise | None:
    kind = fields["noise"].one_of(NOISES, "a kind of noise") if "noise" in fields else "laplace"
    ratios = [name for name in ("threshold_ratio", "query_ratio") if name in fields]
    scales = [name for name in DEFAULT_SCALES if name in fields]
    if ratios and (kind == "laplace" or scales):
        fields[ratios[0]].report("is for geometric noise without scales: give ratios or scales")
        return None
    if kind == "geometric" and ratios:
        for name in {"threshold_ratio", "query_ratio"}.difference(ratios):
            node.report_missing(name, "give both ratios, rational numbers in [0,1)")
        values = [_ratio(fields[name]) for name in ratios]
        if len(values) < 2 or values[0] is None or values[1] is None:
            return None
        return GeometricNoise(values[0], values[1])
    threshold, query = (read_scale(fields.get(n), ledger.rational(c), level) for n, c in DEFAULT_SCALES.items())
    if level is not None and level.epsilon is None and len(scales) < 2:
        node.report("needs scales, since epsilon is not rational: give threshold_scale and query_scale, or ratios")
    if kind is None or threshold is None or query is None:
        return None
    return LaplaceNoise(threshold, query) if kind == "laplace" else GeometricNoise(_of(threshold), _of(query))


def _of(scale: fmpq) -> Ratio:
    return Ratio(value=fmpq(0)) if scale == 0 else Ratio(rate=1 / scale)


def _ratio(node: Node) -> Ratio | None:
    value = node.rational()
    if value is not None and not 0 <= value < 1:
        node.report(f"{node.shown} is outside [0,1): write the ratio of P(k+1) to P(k)")
        return None
    return None if value is None else Ratio(value=value)


def _flag(fields: Mapping[str, Node], name: str, *, default: bool) -> bool:
    if name not in fields:
        return default
    value = fields[name].value
    if not isinstance(value, bool):
        fields[name].report(f"{fields[name].shown} is neither true nor false: write one of them, without quotes")
        return default
    return value


def _max_yes(fields: Mapping[str, Node]) -> int | None:
    if "max_yes" not in fields:
        return 1
    return None if fields["max_yes"].value is None else fields["max_yes"].integer(1, MAX_QUERIES)


def _output(node: Node, count: int | None, max_yes: int | None) -> str | None:
    """An outcome as its answers: an index from 1, ``none``, or a string of y and n."""
    if count is None:
        return None
    if isinstance(node.value, JsonNumber):
        index = node.integer(1, count)
        if index is not None and max_yes != 1:
            node.report('is an index, but there may be several yes answers: write the answers, such as "nny"')
            return None
        return None if index is None else "n" * (index - 1) + "y"
    text = node.string()
    if text is None:
        return None
    if text == "none":
        return "n" * count
    yes = text.count("y")
    complete = len(text) == count or (max_yes is not None and yes == max_yes and text.endswith("y"))
    possible = max_yes is None or yes < max_yes or (yes == max_yes and text.endswith("y"))
    if set(text) - {"y", "n"} or not text or len(text) > count or not complete or not possible:
        node.report(
            f"{quoted(text)} is not an outcome of this stream of {count:,} queries: write the index of the yes, "
            '"none", or one y or n for each query that is answered'
        )
        return None
    return text

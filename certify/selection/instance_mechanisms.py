"""Reading what is not a stream: selection runs, exponential mechanism, rounded Laplace noise, CompareToThresholds."""

from __future__ import annotations

from collections.abc import Mapping

from flint import fmpq

from certify.instance_node import Node
from certify.selection.instance_model import (
    ComparisonQuery,
    ComparisonSpec,
    ExponentialSpec,
    PrivacyLevel,
    ReplaceOne,
    RoundedLaplaceSpec,
    SelectionSpec,
)
from certify.selection.instance_stream import (
    read_neighbours,
    read_rows,
    read_scale,
    read_scores,
    read_vector,
)
from constants.ledger import Ledger

ALGORITHMS = ("binary-search", "linear-scan", "geometric-binary-search", "sum-estimate", "sampling-filtering")
MAX_CANDIDATES = 1_000
MAX_ROUNDS = 1_000
MAX_SCORES = 1_000
MAX_DRAWS = 8
MAX_SEQUENCES = 50_000
MAX_COMPARISONS = 10
MAX_REPEATS = 200

SELECTION_REQUIRED = {"algorithm": f"write one of {', '.join(ALGORITHMS)}"}
SELECTION_OPTIONAL = ("sums", "records", "n", "alpha_factor", "rounds")
EXPONENTIAL_REQUIRED = {
    "scores": "list the scores",
    "sensitivity": "give the sensitivity that the mechanism assumes",
}
EXPONENTIAL_OPTIONAL = ("neighbours", "draws", "repeat")
ROUNDED_FIELDS = ("scale", "sensitivity")
COMPARISON_REQUIRED = {"queries": 'list the queries, such as {"sum": 3, "low": 0, "high": 100}'}
COMPARISON_OPTIONAL = ("threshold_scale", "query_scale", "first_test", "check_gap", "output")
QUERY_REQUIRED = {"sum": "give the sum", "low": "give the lower threshold", "high": "give the upper threshold"}
QUERY_OPTIONAL = ("count",)
FIRST_TESTS = ("high", "low")


def read_selection(node: Node, level: PrivacyLevel | None) -> SelectionSpec | None:
    """A run of one of the algorithms, in the SVT model at a rational ε."""
    fields = node.fields(SELECTION_REQUIRED, SELECTION_OPTIONAL)
    before = len(node.problems)
    if level is not None and level.epsilon is None:
        node.report("needs a rational epsilon: give epsilon instead of exp_epsilon")
    scores = read_scores(node, fields, MAX_CANDIDATES)
    n = read_rows(fields, scores)
    if n is None and "n" not in fields and "records" not in fields:
        node.report_missing("n", "give the number of users, which bounds the scores")
    algorithm = fields["algorithm"].one_of(ALGORITHMS, "an algorithm") if "algorithm" in fields else None
    factor = fields["alpha_factor"].rational() if "alpha_factor" in fields else None
    rounds = fields["rounds"].integer(1, MAX_ROUNDS) if "rounds" in fields else None
    for name in ("alpha_factor", "rounds"):
        if name in fields and algorithm not in (None, "geometric-binary-search", "sum-estimate"):
            fields[name].report("is a parameter of the geometric binary search: remove it")
    if factor is not None and factor <= 0:
        fields["alpha_factor"].report("is not positive: the paper's is 32")
    if scores is not None:
        if algorithm == "sum-estimate" and len(scores.sums) != 1:
            node.report("estimates one sum: give a single one")
        if algorithm in ("binary-search", "linear-scan") and len(scores.sums) < 2:
            node.report("needs at least 2 candidates: give more sums")
    if len(node.problems) > before or scores is None or n is None or algorithm is None:
        return None
    return SelectionSpec(scores, n, algorithm, factor, rounds)


def read_exponential(node: Node, level: PrivacyLevel | None) -> ExponentialSpec | None:
    """The exponential mechanism, at a rational ε."""
    fields = node.fields(EXPONENTIAL_REQUIRED, EXPONENTIAL_OPTIONAL)
    before = len(node.problems)
    if level is not None and level.epsilon is None:
        node.report("needs a rational epsilon: give epsilon instead of exp_epsilon")
    scores = read_vector(fields["scores"], MAX_SCORES, "scores") if "scores" in fields else None
    sensitivity = fields["sensitivity"].rational() if "sensitivity" in fields else None
    if sensitivity is not None and sensitivity <= 0:
        fields["sensitivity"].report("is not positive: write a positive number")
    neighbours = read_neighbours(fields, None, None if scores is None else len(scores))
    if isinstance(neighbours, ReplaceOne):
        fields["neighbours"].report('is not for scores: write box or {"against": […]}')
    draws = (fields["draws"].integer(1, MAX_DRAWS) or 1) if "draws" in fields else 1
    repeat = fields["repeat"].value if "repeat" in fields else True
    if not isinstance(repeat, bool):
        fields["repeat"].report(f"{fields['repeat'].shown} is neither true nor false: write one of them")
    elif scores is not None and not repeat and draws > len(scores):
        fields["draws"].report("is more than there are scores, and none may repeat: take fewer draws")
    if scores is not None and len(scores) ** draws > MAX_SEQUENCES and draws > 1:
        fields["draws"].report(f"gives more than {MAX_SEQUENCES:,} sequences: take fewer draws or scores")
    if len(node.problems) > before or scores is None or sensitivity is None or neighbours is None:
        return None
    return ExponentialSpec(scores, sensitivity, neighbours, draws, bool(repeat))


def read_rounded_laplace(node: Node, level: PrivacyLevel | None) -> RoundedLaplaceSpec | None:
    """Rounded Laplace noise, of scale sensitivity/ε unless another is given."""
    fields = node.fields({}, ROUNDED_FIELDS)
    before = len(node.problems)
    sensitivity = (fields["sensitivity"].integer(1, 10**6) or 1) if "sensitivity" in fields else 1
    scale = read_scale(fields.get("scale"), fmpq(sensitivity), level)
    if scale is not None and scale == 0:
        fields["scale"].report("is 0: rounded noise needs a positive scale")
    if scale is None and len(node.problems) == before:
        node.report_missing("scale", "give a rational scale, since epsilon is not rational")
    return None if len(node.problems) > before or scale is None else RoundedLaplaceSpec(scale, sensitivity)


def read_comparison(node: Node, level: PrivacyLevel | None, ledger: Ledger) -> ComparisonSpec | None:
    """A sequence of queries to CompareToThresholds."""
    fields = node.fields(COMPARISON_REQUIRED, COMPARISON_OPTIONAL)
    before = len(node.problems)
    if level is not None and level.epsilon is None:
        node.report("needs a rational epsilon: give epsilon instead of exp_epsilon")
    elements = fields["queries"].elements(1, MAX_COMPARISONS, "queries") if "queries" in fields else []
    queries = [_comparison_query(element) for element in elements]
    threshold = read_scale(fields.get("threshold_scale"), ledger.rational("ctt-threshold-scale"), level)
    query = read_scale(fields.get("query_scale"), ledger.rational("ctt-query-scale"), level)
    for name, scale in (("threshold_scale", threshold), ("query_scale", query)):
        if scale is not None and scale == 0:
            fields[name].report("is 0: the closed form of CompareToThresholds needs noise")
    first = fields["first_test"].one_of(FIRST_TESTS, "a test") if "first_test" in fields else "high"
    check_gap = fields["check_gap"].value if "check_gap" in fields else True
    if not isinstance(check_gap, bool):
        fields["check_gap"].report(f"{fields['check_gap'].shown} is neither true nor false: write one of them")
    known = [q for q in queries if q is not None]
    total = sum(q.count for q in known)
    output = _comparison_output(fields["output"], total) if "output" in fields else None
    if total > MAX_COMPARISONS and "output" not in fields and len(known) == len(queries) and len(queries) > 1:
        node.report(f"asks {total} queries: at most {MAX_COMPARISONS} unless all are alike or an output is fixed")
    if len(node.problems) > before or len(known) < len(queries) or threshold is None or query is None:
        return None
    return ComparisonSpec(tuple(known), threshold, query, first == "high", bool(check_gap), output)


def _comparison_query(node: Node) -> ComparisonQuery | None:
    fields = node.fields(QUERY_REQUIRED, QUERY_OPTIONAL)
    values: Mapping[str, fmpq | None] = {name: fields[name].rational() for name in QUERY_REQUIRED if name in fields}
    count = fields["count"].integer(1, MAX_REPEATS) if "count" in fields else 1
    total, low, high = (values.get(name) for name in QUERY_REQUIRED)
    if total is None or low is None or high is None or count is None:
        return None
    if low > high:
        fields["low"].report("is above high: exchange the thresholds")
        return None
    return ComparisonQuery(total, low, high, count)


def _comparison_output(node: Node, total: int) -> str | None:
    text = node.string()
    if text is None:
        return None
    complete = text.endswith("C") or len(text) == total
    if not text or set(text[:-1]) - {"H", "L"} or text[-1] not in "HLC" or len(text) > total or not complete:
        node.report(
            f'is not an outcome of {total} queries: write H and L for each, ended by C where it is close ("HHC")'
        )
        return None
    return text

"""The left side of one case of a statement, recomputed by the brute-force reference from the case's witness.

``LEFT[id](tiny, witness)`` is the number that the statement compares at that case: where the witness names a
transcript that attains a maximum, the value at that transcript, and ``LARGEST[id]`` is then the maximum itself,
over every transcript. Names are those of `instances.of_tiny`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from flint import arb, fmpq
from reference import (
    Database,
    Target,
    Tiny,
    Transcript,
    at_reference_precision,
    ball_sums,
    dataset_target,
    envelope,
    envelope_error,
    expected_error,
    kernel,
    largest,
    normaliser,
    normaliser_excess,
    prefixes,
    released_law,
    signed_queries,
    target_difference,
    target_distance,
    total,
    transcripts,
)
from reference_codebook import (
    codebook,
    distinct_codebook,
    jensen_gap,
    log_moment,
    surrogate_mean,
    worst_maurey_gap,
)
from reference_parameters import alpha0, block_width, code_logarithm, damping, moment_scale
from reference_statements import (
    answer_law,
    block_bound_log_ratio,
    decoded_state_key,
    hedge_regret,
    kernel_log_ratio_bound,
    l2_error,
    mean_error,
    path_terms,
    renyi,
    renyi_infinity,
    renyi_maximum,
    softmax_gap_l2,
    softmax_gaps,
    worst_kernel_kl,
    worst_kernel_renyi,
    worst_path_terms,
)
from reference_witness import (
    block_witness,
    database_from_counts,
    jensen_witness,
    maurey_witness,
    privacy_witness,
    target_from_texts,
    transcript_from_names,
)

Witness = Mapping[str, Any]
Left = Callable[[Tiny, Witness], arb]


def universe(tiny: Tiny) -> list[str]:
    """d0, d1, ..."""
    return [f"d{d}" for d in range(tiny.universe_size)]


def queries(tiny: Tiny) -> list[str]:
    """q0, q1, ..."""
    return [f"q{q}" for q in range(tiny.query_count)]


def database(tiny: Tiny, witness: Witness, key: str = "database") -> Database:
    """The rows of a witness's histogram."""
    return database_from_counts(witness[key], universe(tiny))


def target(tiny: Tiny, witness: Witness, key: str = "target") -> Target:
    """The exact target of a witness."""
    return target_from_texts(witness[key], queries(tiny))


def transcript(tiny: Tiny, witness: Witness, key: str = "transcript") -> Transcript:
    """The signed selections of a witness."""
    return transcript_from_names(witness[key], queries(tiny))


def _sensitivity(tiny: Tiny, witness: Witness) -> arb:
    own, rival = (dataset_target(tiny, database(tiny, witness, key)) for key in ("database", "rival"))
    return arb(target_distance(tiny, own, rival))


def _likelihood_ratio(tiny: Tiny, witness: Witness) -> arb:
    own, other = dataset_target(tiny, database(tiny, witness)), target(tiny, witness)
    quantity, order = witness["quantity"], witness["r"]
    if "tanh" in quantity:
        a = arb(kernel_log_ratio_bound(tiny, own, other))
        return a * (a / 2).tanh()
    first, second = (other, own) if "P_a‖P_x" in quantity else (own, other)
    if quantity.startswith("KL"):
        return worst_kernel_kl(tiny, first, second)
    if "more" in order:
        return largest(
            (kernel(tiny, first, prefix)[s] / kernel(tiny, second, prefix)[s]).log()
            for prefix in prefixes(tiny)
            for s in signed_queries(tiny)
        )
    return worst_kernel_renyi(tiny, first, second, fmpq(_last_order(order)))


def _last_order(text: str) -> int:
    """The order whose divergence settles "4" or "2..4"."""
    return int(text.split("..")[-1])


def _hedge(tiny: Tiny, witness: Witness) -> arb:
    return hedge_regret(tiny, transcript(tiny, witness), universe(tiny).index(witness["comparator"]))


def _softmax(tiny: Tiny, witness: Witness) -> arb:
    prefix, a, quantity = transcript(tiny, witness, "state"), target(tiny, witness), witness["quantity"]
    if quantity == "E(ηG)²":
        gap = softmax_gap_l2(tiny, a, prefix) * tiny.eta
        return gap * gap
    (selected,) = transcript_from_names([quantity.rsplit(" ", 1)[1]], queries(tiny))
    return _tail(tiny, a, prefix, selected)


@at_reference_precision
def _tail(tiny: Tiny, a: Target, prefix: Transcript, selected: tuple[int, int]) -> arb:
    """``P(G >= u) e^{eta u}`` at the gap u of one selection; a gap that meets u counts as at least u."""
    gaps, law = softmax_gaps(tiny, a, prefix), kernel(tiny, a, prefix)
    jump = gaps[selected]
    return total(law[s] for s, gap in gaps.items() if not gap < jump) * (tiny.eta * jump).exp()


def _renyi_maximum(tiny: Tiny, witness: Witness) -> arb:
    weighted = witness["quantity"] == "G = L_x"
    return renyi_maximum(tiny, database(tiny, witness), witness["R"], witness["a"], weighted)[0]


def _transcript_renyi(tiny: Tiny, witness: Witness) -> arb:
    a, b, order = target(tiny, witness), target(tiny, witness, "against"), witness["r"]
    return renyi_infinity(tiny, a, b) if "more" in order else renyi(tiny, a, b, fmpq(_last_order(order)))


def _utility_path(tiny: Tiny, witness: Witness) -> arb:
    return path_terms(tiny, target(tiny, witness), transcript(tiny, witness))[0]


def _robust_utility(tiny: Tiny, witness: Witness) -> arb:
    return l2_error(tiny, database(tiny, witness), target(tiny, witness))


def _base_error(tiny: Tiny, witness: Witness) -> arb:
    error = l2_error if "L2" in witness["quantity"] else mean_error
    return error(tiny, database(tiny, witness), target(tiny, witness))


def _transcript_privacy(tiny: Tiny, witness: Witness) -> arb:
    x, neighbour = database(tiny, witness), database(tiny, witness, "neighbour")
    if witness["quantity"].startswith("Z"):
        return _log(normaliser(tiny, x), normaliser(tiny, neighbour))
    envelopes, _, laws = privacy_witness(tiny, x, neighbour, transcript(tiny, witness))
    return laws if "p̂" in witness["quantity"] else envelopes


@at_reference_precision
def _log(numerator: arb, denominator: arb) -> arb:
    return (numerator / denominator).log()


def _answer_privacy(tiny: Tiny, witness: Witness) -> arb:
    key = decoded_state_key(tiny, transcript(tiny, witness))
    own, other = (answer_law(tiny, database(tiny, witness, name))[key] for name in ("database", "neighbour"))
    return _log(own, other)


def _surrogates(tiny: Tiny, witness: Witness) -> arb:
    if "rival" in witness:
        x, y = database(tiny, witness), database(tiny, witness, "rival")
        mean, goal = surrogate_mean(tiny, x, y, tiny.n, 1), dataset_target(tiny, y)
        return arb(max(abs(a - b) for a, b in zip(mean, goal, strict=True)))
    x = (0,) * tiny.n
    if "V" in witness["quantity"]:
        return arb(len(distinct_codebook(tiny, x, 1, witness["m"])))
    own = dataset_target(tiny, x)
    return arb(max(target_distance(tiny, v, own) for v in distinct_codebook(tiny, x, 1, witness["m"])))


def _jensen(tiny: Tiny, witness: Witness) -> arb:
    return jensen_witness(tiny, *_ball_member(tiny, witness))


def _maurey(tiny: Tiny, witness: Witness) -> arb:
    return maurey_witness(tiny, *_ball_member(tiny, witness))


def _ball_member(tiny: Tiny, witness: Witness) -> tuple[Database, Database, Transcript, int, int]:
    x, rival = database(tiny, witness), database(tiny, witness, "rival")
    return x, rival, transcript(tiny, witness), witness["R"], witness["m"]


@at_reference_precision
def _moment(tiny: Tiny, witness: Witness) -> arb:
    x, v, order = database(tiny, witness), target(tiny, witness), witness["r"]
    if "Hoeffding" in order:
        return arb(target_difference(dataset_target(tiny, x), v) ** 2 / 2)
    if "chord" in order:  # between the two neighbouring orders
        middle = int(order.split()[0])
        return (log_moment(tiny, x, v, middle - 1) + log_moment(tiny, x, v, middle + 1)) / 2
    return log_moment(tiny, x, v, int(order))


def _near(tiny: Tiny, witness: Witness) -> arb:
    quantity, radius = witness["quantity"], witness["R"]
    if "log average" in quantity:
        return _average_moment(tiny, witness)
    return _ball(tiny, witness) if "Σ H_R" in quantity else _near_scalar(tiny, quantity, radius, witness["r"])


@at_reference_precision
def _near_scalar(tiny: Tiny, quantity: str, radius: int, order: int) -> arb:
    scale, code = arb(moment_scale(tiny, radius)), code_logarithm(tiny)
    root = (scale * code).sqrt()
    values = {
        "√(L/A_R) ≤ r": (code / scale).sqrt(),
        "r < √(L/A_R) + 2": arb(order),
        "2 ≤ r": arb(2),
        "L/r + A_R r": code / order + scale * order,
        "A_R + 4√(A_R L) ≤ 5√(A_R L)": scale + 4 * root,
    }
    return values[quantity]


@at_reference_precision
def _average_moment(tiny: Tiny, witness: Witness) -> arb:
    x, radius = database(tiny, witness), witness["R"]
    order = near_order(tiny, radius)
    moments = {v: log_moment(tiny, x, v, order).exp() for v in distinct_codebook(tiny, x, radius, 1)}
    labels = codebook(tiny, x, radius, 1)
    return (total(moments[v] for v in labels) / len(labels)).log()


@at_reference_precision
def near_order(tiny: Tiny, radius: int) -> int:
    """``r_R = ceil(sqrt(L/A_R)) + 1``; raises TypeError where the ceiling is not certain."""
    return int((code_logarithm(tiny) / moment_scale(tiny, radius)).sqrt().ceil().unique_fmpz()) + 1


def _ball(tiny: Tiny, witness: Witness) -> arb:
    mass, error = ball_sums(tiny, database(tiny, witness), witness["R"])
    return error if "L_x" in witness["quantity"] else _log(mass, arb(1))


def _far(tiny: Tiny, witness: Witness) -> arb:
    quantity = witness.get("quantity", "")
    if "Σ H_R" in quantity:
        return _ball(tiny, witness)
    return _far_scalar(tiny, witness["R"], witness["m"], middle="3√" in quantity)


@at_reference_precision
def _far_scalar(tiny: Tiny, radius: int, length: int, *, middle: bool) -> arb:
    scale, code = arb(moment_scale(tiny, radius)), code_logarithm(tiny)
    return 2 * (scale * code).sqrt() + code if middle else scale / length + length * code


@at_reference_precision
def _block(tiny: Tiny, witness: Witness) -> arb:
    return block_witness(tiny, database(tiny, witness), transcript(tiny, witness)).exp()


def _least_normaliser(tiny: Tiny, witness: Witness) -> arb:
    return arb(1)


def _normaliser(tiny: Tiny, witness: Witness) -> arb:
    quantity = witness.get("quantity", "1 ≤ Z_x")
    if quantity == "1 ≤ Z_x":
        return _least_normaliser(tiny, witness)
    return normaliser_excess(tiny, database(tiny, witness)) if "Z_x" in quantity else damping(tiny)


def _error(tiny: Tiny, witness: Witness) -> arb:
    quantity = witness["quantity"]
    if quantity == "α₀+2eu_ε α₀+32eBu_ε/n":
        return error_middle(tiny)
    measure = envelope_error if "p̃" in quantity else expected_error
    return measure(tiny, database(tiny, witness))


@at_reference_precision
def error_middle(tiny: Tiny) -> arb:
    """``alpha_0 + 2e u alpha_0 + 32e B u/n`` (section 7)."""
    e, u = arb(1).exp(), damping(tiny)
    return alpha0(tiny) * (1 + 2 * e * u) + 32 * e * block_width(tiny) * u / tiny.n


LEFT: dict[str, Left] = {
    "eq-2.sensitivity": _sensitivity,
    "lemma-a.1": at_reference_precision(_likelihood_ratio),
    "lemma-a.2": _hedge,
    "lemma-a.3": at_reference_precision(_softmax),
    "lemma-a.4": _renyi_maximum,
    "prop-3.1": _transcript_renyi,
    "prop-3.2.path": _utility_path,
    "prop-3.2": _robust_utility,
    "eq-3.3": _base_error,
    "prop-4.1.transcript": _transcript_privacy,
    "prop-4.1.answer": _answer_privacy,
    "eq-4.normaliser": _least_normaliser,
    "lemma-5.1.mean": _surrogates,
    "lemma-5.1.jensen": _jensen,
    "lemma-5.1": _maurey,
    "lemma-6.1": _moment,
    "eq-6.near": _near,
    "eq-6.far": _far,
    "eq-6.2": _ball,
    "eq-7.block": _block,
    "eq-7.normaliser": _normaliser,
    "eq-7.error": _error,
    "eq-8.7": _error,
    "thm-1.1": _error,
}
"""The statements whose left side is a number of the law, of the targets or of the code."""


# maxima over every transcript (and, for Lemma 5.1, every database of the ball)


@at_reference_precision
def _largest_regret(tiny: Tiny, witness: Witness) -> arb:
    element = universe(tiny).index(witness["comparator"])
    return largest(hedge_regret(tiny, omega, element) for omega in transcripts(tiny))


def _largest_path(tiny: Tiny, witness: Witness) -> arb:
    return worst_path_terms(tiny, target(tiny, witness))[0]


@at_reference_precision
def _largest_ratio(tiny: Tiny, witness: Witness) -> arb:
    if witness["quantity"].startswith("Z"):
        return _transcript_privacy(tiny, witness)
    law = released_law if "p̂" in witness["quantity"] else envelope
    own, other = (law(tiny, database(tiny, witness, key)) for key in ("database", "neighbour"))
    return largest((own[omega] / other[omega]).log() for omega in own)


@at_reference_precision
def _largest_jensen(tiny: Tiny, witness: Witness) -> arb:
    x, rival, _, radius, length = _ball_member(tiny, witness)
    return largest(jensen_gap(tiny, x, rival, omega, radius, length) for omega in transcripts(tiny))


def _largest_maurey(tiny: Tiny, witness: Witness) -> arb:
    return worst_maurey_gap(tiny, database(tiny, witness), witness["R"], witness["m"])


@at_reference_precision
def _largest_block(tiny: Tiny, witness: Witness) -> arb:
    return block_bound_log_ratio(tiny, database(tiny, witness)).exp()


LARGEST: dict[str, Left] = {
    "lemma-a.2": _largest_regret,
    "prop-3.2.path": _largest_path,
    "prop-4.1.transcript": _largest_ratio,
    "lemma-5.1.jensen": _largest_jensen,
    "lemma-5.1": _largest_maurey,
    "eq-7.block": _largest_block,
}
"""The statements whose witness names a transcript that attains a maximum."""

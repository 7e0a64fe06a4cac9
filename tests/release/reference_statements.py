"""Brute-force reference: the statements of sections 2-4 and 7 and of the appendix on a tiny instance.

Extremes range over every database, transcript, prefix and codebook label that the statement names. A
`..._log_ratio` is the logarithm of left over right.
"""

from __future__ import annotations

import itertools

from flint import arb, fmpq
from reference import (
    Database,
    SignedQuery,
    Target,
    Tiny,
    Transcript,
    at_reference_precision,
    average_state,
    ball_maximum,
    databases,
    dataset_target,
    discrepancy,
    envelope,
    expectation,
    hamming,
    kernel,
    largest,
    log_masses,
    losses,
    masses,
    neighbours,
    nonnegative_power,
    normaliser,
    prefixes,
    released_law,
    signed_answer,
    signed_queries,
    signed_value,
    state,
    target_difference,
    target_distance,
    total,
    transcripts,
)
from reference_codebook import codebook
from reference_parameters import block_radius, block_width

# Section 2 and Appendix A


def worst_sensitivity(tiny: Tiny) -> fmpq | None:
    """max over x != y of d_*(a(x), a(y)) / d_H(x, y), exact; None when T = 1 (eq-2.sensitivity)."""
    ratios = [
        target_distance(tiny, dataset_target(tiny, x), dataset_target(tiny, y)) / hamming(x, y)
        for x, y in itertools.permutations(databases(tiny), 2)
    ]
    return max(ratios) if ratios else None


@at_reference_precision
def kernel_kl(tiny: Tiny, a: Target, b: Target, prefix: Transcript) -> arb:
    """KL(pi_a || pi_b) of the two kernels at one prefix (Lemma A.1)."""
    left, right = kernel(tiny, a, prefix), kernel(tiny, b, prefix)
    return total(left[s] * (left[s] / right[s]).log() for s in signed_queries(tiny))


@at_reference_precision
def kernel_renyi(tiny: Tiny, a: Target, b: Target, prefix: Transcript, order: fmpq) -> arb:
    """D_r(pi_a || pi_b) of the two kernels at one prefix, real r > 1 (Lemma A.1)."""
    left, right = kernel(tiny, a, prefix), kernel(tiny, b, prefix)
    moment = total(right[s] * (left[s] / right[s]) ** arb(order) for s in signed_queries(tiny))
    return moment.log() / (order - 1)


@at_reference_precision
def kernel_log_ratio(tiny: Tiny, a: Target, b: Target, prefix: Transcript) -> arb:
    """max_s |log(pi_a(s) / pi_b(s))| at one prefix: the measured a of Lemma A.1."""
    left, right = kernel(tiny, a, prefix), kernel(tiny, b, prefix)
    return largest(abs((left[s] / right[s]).log()) for s in signed_queries(tiny))


def kernel_log_ratio_bound(tiny: Tiny, a: Target, b: Target) -> fmpq:
    """2 eta Delta, exact: the a at which the release paper applies Lemma A.1 (proof of Proposition 3.1)."""
    return 2 * tiny.eta * target_difference(a, b)


@at_reference_precision
def worst_kernel_kl(tiny: Tiny, a: Target, b: Target) -> arb:
    """max over all states of KL(pi_a || pi_b) (Lemma A.1)."""
    return largest(kernel_kl(tiny, a, b, prefix) for prefix in prefixes(tiny))


@at_reference_precision
def worst_kernel_renyi(tiny: Tiny, a: Target, b: Target, order: fmpq) -> arb:
    """max over all states of D_r(pi_a || pi_b), real r > 1 (Lemma A.1)."""
    return largest(kernel_renyi(tiny, a, b, prefix, order) for prefix in prefixes(tiny))


@at_reference_precision
def hedge_regret(tiny: Tiny, omega: Transcript, element: int) -> arb:
    """sum_t s_t(mu_*) - s_t(mu_{t-1}) for mu_* the point mass at the element (Lemma A.2)."""
    return total(
        signed_value(tiny, s, element) - expectation(tiny, s, state(tiny, omega[:t])) for t, s in enumerate(omega)
    )


@at_reference_precision
def worst_hedge_regret(tiny: Tiny) -> arb:
    """max over all transcripts and all vertices mu_* of the Hedge regret (Lemma A.2)."""
    return largest(
        hedge_regret(tiny, omega, element) for omega in transcripts(tiny) for element in range(tiny.universe_size)
    )


@at_reference_precision
def softmax_gaps(tiny: Tiny, a: Target, prefix: Transcript) -> dict[SignedQuery, arb]:
    """G = max_u D_t(u) - D_t(s) for each selection s (Lemma A.3, section 3.2)."""
    scores = {s: discrepancy(tiny, a, s, prefix) for s in signed_queries(tiny)}
    top = largest(scores.values())
    return {s: top - score for s, score in scores.items()}


@at_reference_precision
def softmax_tail(tiny: Tiny, a: Target, prefix: Transcript) -> arb:
    """max over the jumps u of P(G >= u) e^{eta u}, to be at most K = 2k (Lemma A.3).

    A gap that cannot be told from u counts as inside the tail: this can only raise the value.
    """
    gaps, law = softmax_gaps(tiny, a, prefix), kernel(tiny, a, prefix)
    return largest(
        total(law[s] for s, gap in gaps.items() if not gap < u) * (tiny.eta * u).exp() for u in gaps.values()
    )


@at_reference_precision
def softmax_gap_l2(tiny: Tiny, a: Target, prefix: Transcript) -> arb:
    """||G||_{L2} under the kernel, to be at most 4 log(2K)/eta (Lemma A.3)."""
    gaps, law = softmax_gaps(tiny, a, prefix), kernel(tiny, a, prefix)
    return nonnegative_power(total(law[s] * gap * gap for s, gap in gaps.items()), fmpq(1, 2))


@at_reference_precision
def worst_softmax_tail(tiny: Tiny, a: Target) -> arb:
    """max over all states of the softmax tail ratio (Lemma A.3)."""
    return largest(softmax_tail(tiny, a, prefix) for prefix in prefixes(tiny))


@at_reference_precision
def worst_softmax_gap_l2(tiny: Tiny, a: Target) -> arb:
    """max over all states of the L2 softmax gap (Lemma A.3)."""
    return largest(softmax_gap_l2(tiny, a, prefix) for prefix in prefixes(tiny))


@at_reference_precision
def renyi_maximum(tiny: Tiny, x: Database, radius: int, order: int, weighted: bool) -> tuple[arb, arb]:
    """(left, right) of Lemma A.4: P_0 = P_x, P_i the T^2+1 labels of V_{x,R,1}, a = order, G = L_x or 1."""
    labels = codebook(tiny, x, radius, 1)
    centre = dataset_target(tiny, x)
    own = masses(tiny, centre)
    weight = losses(tiny, x) if weighted else dict.fromkeys(transcripts(tiny), arb(1))
    laws = [masses(tiny, v) for v in set(labels)]
    left = total(largest(law[omega] for law in laws) * weight[omega] for omega in transcripts(tiny))
    divergence = largest([arb(0)] + [renyi(tiny, v, centre, fmpq(order)) for v in set(labels)])
    conjugate = fmpq(order, order - 1)
    power_mean = total(own[omega] * nonnegative_power(weight[omega], conjugate) for omega in transcripts(tiny))
    norm = nonnegative_power(power_mean, 1 / conjugate)
    exponent = arb(len(labels)).log() / order + (order - 1) * divergence / order
    return left, exponent.exp() * norm


# Section 3


@at_reference_precision
def renyi(tiny: Tiny, a: Target, b: Target, order: fmpq) -> arb:
    """D_r(P_a || P_b) over all transcripts, real r > 1 (section 2, Proposition 3.1)."""
    left, right = masses(tiny, a), masses(tiny, b)
    moment = total(right[omega] * (left[omega] / right[omega]) ** arb(order) for omega in transcripts(tiny))
    return moment.log() / (order - 1)


@at_reference_precision
def renyi_infinity(tiny: Tiny, a: Target, b: Target) -> arb:
    """D_infinity(P_a || P_b) = max_omega log(p_a/p_b), which bounds every D_r (Proposition 3.1)."""
    left, right = log_masses(tiny, a), log_masses(tiny, b)
    return largest(left[omega] - right[omega] for omega in transcripts(tiny))


@at_reference_precision
def path_terms(tiny: Tiny, a: Target, omega: Transcript) -> tuple[arb, arb, arb, arb]:
    """(1/J)sum D_t(s_t), (1/J)sum D*_t, (1/J)sum G_t and max_s a_s - s(mu-bar) (proof of Prop. 3.2)."""
    chosen, best, gap = arb(0), arb(0), arb(0)
    for t, s in enumerate(omega):
        chosen += discrepancy(tiny, a, s, omega[:t])
        best += largest(discrepancy(tiny, a, u, omega[:t]) for u in signed_queries(tiny))
        gap += softmax_gaps(tiny, a, omega[:t])[s]
    mu = average_state(tiny, omega)
    final = largest(signed_answer(a, s) - expectation(tiny, s, mu) for s in signed_queries(tiny))
    rounds = tiny.rounds
    return chosen / rounds, best / rounds, gap / rounds, final


@at_reference_precision
def worst_path_terms(tiny: Tiny, a: Target) -> tuple[arb, arb, arb]:
    """The largest left sides of the three displays of prop-3.2.path over all omega.

    max (1/J)sum D_t(s_t) and max (1/J)sum (D*_t - G_t), to be at most L_0/(gamma J) + gamma/2 + Delta_x(a);
    max (max_s a_s - s(mu-bar) - (1/J)sum D*_t), to be at most 0.
    """
    terms = [path_terms(tiny, a, omega) for omega in transcripts(tiny)]
    return (
        largest(chosen for chosen, _, _, _ in terms),
        largest(best - gap for _, best, gap, _ in terms),
        largest(final - best for _, best, _, final in terms),
    )


@at_reference_precision
def mean_error(tiny: Tiny, x: Database, a: Target) -> arb:
    """E_{P_a} L_x (eq-3.3)."""
    error = losses(tiny, x)
    return total(value * error[omega] for omega, value in masses(tiny, a).items())


@at_reference_precision
def l2_error(tiny: Tiny, x: Database, a: Target) -> arb:
    """||L_x||_{L2(P_a)} (Proposition 3.2)."""
    error = losses(tiny, x)
    second = total(value * error[omega] * error[omega] for omega, value in masses(tiny, a).items())
    return nonnegative_power(second, fmpq(1, 2))


# Section 4


@at_reference_precision
def envelope_log_ratio(tiny: Tiny) -> arb | None:
    """max over neighbours and omega of log(p~_x/p~_x'), at most epsilon/2; None when T = 1 (Prop. 4.1)."""
    ratios = [
        (envelope(tiny, x)[omega] / envelope(tiny, y)[omega]).log()
        for x, y in neighbours(tiny)
        for omega in transcripts(tiny)
    ]
    return largest(ratios) if ratios else None


@at_reference_precision
def normaliser_log_ratio(tiny: Tiny) -> arb | None:
    """max over neighbours of log(Z_x/Z_x'), at most epsilon/2; None when T = 1 (Prop. 4.1)."""
    ratios = [(normaliser(tiny, x) / normaliser(tiny, y)).log() for x, y in neighbours(tiny)]
    return largest(ratios) if ratios else None


@at_reference_precision
def privacy_log_ratio(tiny: Tiny) -> arb | None:
    """max over neighbours and omega of log(p^_x/p^_x'), at most epsilon; None when T = 1 (Prop. 4.1)."""
    laws = {x: released_law(tiny, x) for x in databases(tiny)}
    ratios = [(laws[x][omega] / laws[y][omega]).log() for x, y in neighbours(tiny) for omega in transcripts(tiny)]
    return largest(ratios) if ratios else None


def decoded_state_key(tiny: Tiny, omega: Transcript) -> tuple[tuple[fmpq, ...], ...]:
    """The multiset of visited states, exact (prop-4.1.answer).

    The sums of s_i(d) - s_i(d_0) over i <= t determine mu_t and are determined by it, so equal keys mean the
    same states, the same mu-bar and the same released answer.
    """
    scores = [
        tuple(
            sum((signed_value(tiny, s, d) - signed_value(tiny, s, 0) for s in omega[:t]), fmpq(0))
            for d in range(tiny.universe_size)
        )
        for t in range(len(omega))
    ]
    return tuple(sorted(scores))


def answer_law(tiny: Tiny, x: Database) -> dict[tuple[tuple[fmpq, ...], ...], arb]:
    """The released law grouped by exactly equal decoded states (Proposition 4.1, the answer)."""
    grouped: dict[tuple[tuple[fmpq, ...], ...], list[arb]] = {}
    for omega, value in released_law(tiny, x).items():
        grouped.setdefault(decoded_state_key(tiny, omega), []).append(value)
    return {key: total(values) for key, values in grouped.items()}


@at_reference_precision
def answer_log_ratio(tiny: Tiny) -> arb | None:
    """max over neighbours of the log ratio of grouped laws, at most epsilon; None when T = 1 (Prop. 4.1)."""
    laws = {x: answer_law(tiny, x) for x in databases(tiny)}
    ratios = [(laws[x][key] / laws[y][key]).log() for x, y in neighbours(tiny) for key in laws[x]]
    return largest(ratios) if ratios else None


# Section 7


@at_reference_precision
def block_bound_sides(tiny: Tiny, x: Database) -> dict[Transcript, tuple[arb, arb]]:
    """(p~_x, p_x + sum_{j<n} e^{-(epsilon/2)(jB+1)} H_{R_j}) for every transcript (eq-7.block)."""
    own, weights = masses(tiny, dataset_target(tiny, x)), envelope(tiny, x)
    right = dict(own)
    for j in range(tiny.n):
        penalty = arb(-tiny.epsilon / 2 * (j * block_width(tiny) + 1)).exp()
        maxima = ball_maximum(tiny, x, block_radius(tiny, j))
        right = {omega: value + penalty * maxima[omega] for omega, value in right.items()}
    return {omega: (weights[omega], right[omega]) for omega in transcripts(tiny)}


@at_reference_precision
def block_bound_log_ratio(tiny: Tiny, x: Database) -> arb:
    """max over omega of log(left/right) of the block bound, to be at most 0 (eq-7.block)."""
    return largest((left / right).log() for left, right in block_bound_sides(tiny, x).values())


def block_indices_hold(tiny: Tiny) -> bool:
    """Whether j = floor((d-1)/B) < n and jB+1 <= d <= (j+1)B for every d = 1..n (eq-7.block-index)."""
    width = block_width(tiny)
    return all(
        (d - 1) // width < tiny.n and (d - 1) // width * width + 1 <= d <= ((d - 1) // width + 1) * width
        for d in range(1, tiny.n + 1)
    )

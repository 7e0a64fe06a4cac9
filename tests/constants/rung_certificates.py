"""The certificates of rungs that come with the package, read and checked once for all tests."""

from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any

from flint import arb, ctx, fmpq

from certify.arithmetic.verdict import Verdict
from certify.claims.certificate import point_certificate
from certify.claims.checker import check
from certify.claims.claim import Claim
from certify.claims.rejection import Rejected
from constants.search.certificate import SHIPPED, RungCertificate, read_certificate
from constants.search.chain import ClaimCheck, Link, chain, check_chain
from constants.search.rung import Envelope, Histogram, Tuning

TUNED = ("bc-E.", "bc-thm.", "bc-10.2")
"""What the ids of the claims begin with in which the numbers of a tuning stand."""


@cache
def shipped(name: str) -> RungCertificate:
    """The certificate of a rung."""
    return read_certificate(SHIPPED / f"rung-{name}.json")


@cache
def shipped_results(name: str) -> tuple[ClaimCheck, ...]:
    """What the checker says of its claims."""
    return tuple(check_chain(shipped(name)))


@cache
def shipped_claims(name: str) -> Mapping[str, Claim]:
    """The claims that its constant rests on, by id."""
    return {link.claim.id: link.claim for link in chain(shipped(name).tuning)}


def tuned_links(tuning: Tuning) -> list[Link]:
    """The links of the chain that are no lemmas."""
    return [link for link in chain(tuning) if link.claim.id.startswith(TUNED)]


def with_last(tuning: Tuning) -> Iterator[tuple[Histogram | Envelope, int | None]]:
    """Each range with its largest T, None for the last one."""
    for i, each in enumerate(tuning.ranges):
        yield each, tuning.ranges[i + 1].first - 1 if i + 1 < len(tuning.ranges) else None


def envelopes(tuning: Tuning) -> list[tuple[Envelope, int | None]]:
    """The ranges with an envelope."""
    return [(each, last) for each, last in with_last(tuning) if isinstance(each, Envelope)]


def scaled(tuning: Tuning, factor: fmpq) -> Tuning:
    """The tuning with its constant times a factor."""
    return Tuning(tuning.rung, tuning.constant * factor, tuning.ranges)


def places(node: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """The paths to all texts and numbers in plain data."""
    if isinstance(node, dict | list):
        for key, value in node.items() if isinstance(node, dict) else enumerate(node):
            yield from places(value, (*path, key))
    else:
        yield path


def at(node: Any, path: tuple[Any, ...]) -> Any:
    """What stands at a path."""
    for key in path:
        node = node[key]
    return node


def replaced(node: Any, path: tuple[Any, ...], value: Any) -> Any:
    """A copy with another value at a path; what is off the path is shared."""
    if not path:
        return value
    copy = dict(node) if isinstance(node, dict) else list(node)
    copy[path[0]] = replaced(node[path[0]], path[1:], value)
    return copy


def is_refuted(claim: Claim, point: Mapping[str, str], conclusion: int = 0) -> bool:
    """Whether the checker takes the exact point as a refutation."""
    try:
        certificate = point_certificate(claim, {"variables": dict(point), "conclusion": conclusion})
        return check(claim, certificate) is Verdict.REFUTED
    except Rejected:
        return False


def balanced_epsilon(constant: fmpq, universe: int) -> str:
    """A rational ε just above C² log(2T) log 2, for which C τ is just below 1 where k = n = 1."""
    with ctx.workprec(128):
        exact = arb(constant) ** 2 * arb(2 * universe).log() * arb(2).log()
        return str(fmpq((exact.upper().fmpq() * 10**9).floor() + 1, 10**9))

"""Results on claims as text: a line each, what failed in full, the verdict last."""

from __future__ import annotations

from collections.abc import Sequence

from certify.arithmetic.verdict import Verdict
from certify.claims.result import ClaimResult
from certify.instance_file import printable

EXPECTED_NOTES = {
    "refuted": "refuted, as the file expects",
    "undecided": "undecided, as the file expects",
}


def results_text(results: Sequence[ClaimResult], *, quiet: bool = False) -> str:
    """The report on some claims."""
    width = max((len(result.claim.id) for result in results), default=0)
    lines = []
    for result in results:
        if quiet and result.as_expected:
            continue
        lines.append(f"{printable(result.claim.id):{width}}  {_verdict(result)}{_title(result)}")
        if result.slack is not None:
            lines.append(f"{'':{width}}    {_slack(result)}")
        if result.verdict is not Verdict.PROVED:
            lines += [f"{'':{width}}    {line}" for line in _details(result)]
    return "\n".join([*lines, verdict_line(results)]) + "\n"


def verdict_line(results: Sequence[ClaimResult]) -> str:
    """``proved: 20 claims proved, 2 refuted as expected, 0 refuted, 0 undecided``."""
    expected = [r for r in results if r.as_expected]
    unexpected = [r for r in results if not r.as_expected]
    proved = sum(r.verdict is Verdict.PROVED for r in expected)
    refuted = sum(r.verdict is Verdict.REFUTED for r in expected)
    worse = [r.verdict for r in unexpected]
    undecided = sum(v is Verdict.UNDECIDED for v in worse)
    others = len(worse) - undecided
    open_or_proved = "undecided" if undecided else "proved"
    verdict = "not as expected" if others else open_or_proved
    return (
        f"{verdict}: {proved} of {len(results)} claims proved, {refuted} refuted as expected, "
        f"{others} otherwise than expected, {undecided} undecided"
    )


def _verdict(result: ClaimResult) -> str:
    if result.as_expected:
        return EXPECTED_NOTES.get(result.claim.expect, result.verdict.value)
    if result.verdict.value == result.claim.expect:  # the slack pair did not hold
        return f"{result.verdict.value}, but not its slack"
    return f"{result.verdict.value.upper()} (expected: {result.claim.expect})"


def _title(result: ClaimResult) -> str:
    named = ", ".join(part for part in (result.claim.title, result.claim.source) if part)
    return f"  {printable(named)}" if named else ""


def _slack(result: ClaimResult) -> str:
    slack = result.slack
    assert slack is not None
    states = ", ".join(
        f"{each.verdict.value} with {value}"
        for each, value in ((slack.proved, slack.proved_value), (slack.refuted, slack.refuted_value))
    )
    return f"slack of {slack.constant} = {slack.value}: {states}"


def _details(result: ClaimResult) -> list[str]:
    lines = [printable(result.claim.headline())]
    if result.reason:
        lines.append(f"reason: {printable(result.reason)}")
    point = result.point
    if point is not None:
        values = ", ".join(f"{name} = {value}" for name, value in point["variables"].items())
        lines.append(f"fails at {printable(values or 'every point')}")
        if "states" in point:
            lines.append(f"states: {', '.join(point['states'])}")
        else:
            lines.append(f"there not: {printable(result.claim.conclusions[point['conclusion']].text())}")
    return lines

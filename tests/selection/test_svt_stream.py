"""Algorithms 1-3: the interface, clipping, closing, charging."""

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import pytest
from above_threshold_law import laplace_law
from bit_strings import UNDECIDED, Script, enumerated_law
from flint import arb, fmpq

from certify.selection.accountant import Accountant, BudgetExceeded
from certify.selection.bits import BitsExhausted, BitSource, SeededBits, SystemBits
from certify.selection.noise import Geometric
from certify.selection.oracle import StreamClosed
from certify.selection.scores import Records, ScoreTable, clip
from certify.selection.svt import SvtNoise, SvtOracle, SvtStream, above_threshold

FAR = 10**6


def stream(sums: Sequence[int | fmpq], bits: BitSource | None = None, epsilon: int | fmpq = 1) -> SvtStream[int]:
    return SvtStream(ScoreTable(tuple(sums)), epsilon, Accountant(epsilon), bits)


class TestStream:
    def test_yes_closes_and_no_does_not(self) -> None:
        svt = stream([0])
        assert [svt.query(0, FAR) for _ in range(3)] == [False] * 3
        assert not svt.closed
        assert svt.query(0, -FAR)
        assert svt.closed
        for call in (lambda: svt.query(0, FAR), lambda: svt.first_yes([0], FAR)):
            with pytest.raises(StreamClosed, match="open a new one"):
                call()

    def test_batch_closes_as_well(self) -> None:
        svt = stream([0] * 50)
        assert svt.first_yes(range(50), FAR) is None and not svt.closed
        assert svt.first_yes(range(50), -FAR) == 0 and svt.closed

    def test_law_through_the_interface(self) -> None:
        """Algorithm 2 at ε = 1/2, f = (0, 3), τ = 2: the decided mass lies below the law of Lap(4), Lap(8)."""

        def run(source: BitSource) -> int | None:
            svt = stream([0, 3], source, fmpq(1, 2))
            return next((j for j in range(2) if svt.query(j, 2)), None)

        mass = enumerated_law(run, 18)
        law = laplace_law([fmpq(2), fmpq(-1)], fmpq(4), fmpq(8))
        assert mass[UNDECIDED] <= Fraction(15, 1000)
        for outcome, probability in zip((0, 1, None), law, strict=True):
            assert arb(fmpq(mass[outcome].numerator, mass[outcome].denominator)) <= probability.upper()

    def test_ties_are_even_for_laplace_noise(self) -> None:
        """f = τ: yes has probability 1/2."""
        mass = enumerated_law(lambda source: stream([7], source).query(0, 7), 16)
        assert mass[True] == mass[False] == (1 - mass[UNDECIDED]) / 2

    def test_strictness_matters_for_geometric_noise_alone(self) -> None:
        words = [2**63] * 4  # γ = 0 and ν = 0: a tie
        noise = SvtNoise(Geometric(fmpq(1, 4)), Geometric(fmpq(1, 2)))
        answers = [
            SvtStream(ScoreTable((7,)), 1, Accountant(1), Script(words), noise=noise, strict=strict).query(0, 7)
            for strict in (True, False)
        ]
        assert answers == [False, True]

    def test_forty_equal_sums(self) -> None:
        svt = stream([5] * 40, SeededBits(3))
        assert svt.first_yes(range(40), 5) in range(40)

    def test_a_single_query_with_negative_and_rational_sums(self) -> None:
        assert stream([-FAR]).query(0, -3 * FAR)
        assert not stream([fmpq(-1, 3)]).query(0, FAR)
        assert stream([-FAR] * 40).first_yes(range(40), -3 * FAR) == 0

    @pytest.mark.parametrize("epsilon", [fmpq(1, 10**12), fmpq(10**4)])
    def test_extreme_epsilon(self, epsilon: fmpq) -> None:
        far = 10**5 / epsilon
        svt = stream([0] * 40, epsilon=epsilon)
        assert svt.first_yes(range(40), far) is None
        assert not svt.query(0, far)
        assert svt.first_yes(range(40), -far) == 0

    def test_huge_sums_are_exact(self) -> None:
        n = 2**200
        svt = stream([n - 5000, n], epsilon=1)
        assert svt.first_yes([0, 1] * 20, n - 2000) == 1

    @pytest.mark.parametrize("bad", [float("nan"), float("inf"), 0.5, True, "1", None, arb(1), arb("nan")])
    def test_what_is_not_exact_is_refused_and_changes_nothing(self, bad: Any) -> None:
        bits = Script([2**63])
        svt = stream([0], bits)
        with pytest.raises(TypeError, match="give an int"):
            svt.query(0, bad)
        with pytest.raises(TypeError, match="give an int"):
            svt.first_yes([0], bad)
        assert not svt.closed and bits.waiting == []
        with pytest.raises(TypeError, match="give an int"):
            stream([0], epsilon=bad)
        with pytest.raises(TypeError, match="give an int"):
            ScoreTable((bad,))

    @pytest.mark.parametrize("epsilon", [0, -1])
    def test_epsilon_must_be_positive(self, epsilon: int) -> None:
        with pytest.raises(ValueError, match="positive"):
            SvtStream(ScoreTable((0,)), epsilon, Accountant(1))

    @pytest.mark.parametrize("candidate", [-1, 1, 40])
    def test_unknown_candidate(self, candidate: int) -> None:
        svt = stream([0])
        with pytest.raises(IndexError, match="no candidate"):
            svt.query(candidate, 0)
        with pytest.raises(IndexError, match="no candidate"):
            stream([0] * 40).first_yes([*range(39), 100], FAR)


class TestCharging:
    def test_charged_at_init_whatever_is_asked(self) -> None:
        accountant = Accountant(1)
        SvtStream(ScoreTable((0,)), fmpq(2, 3), accountant)
        assert accountant.spent == (fmpq(2, 3), fmpq(0))
        with pytest.raises(BudgetExceeded, match="1/3"):
            SvtStream(ScoreTable((0,)), fmpq(1, 2), accountant)
        assert accountant.spent == (fmpq(2, 3), fmpq(0))

    def test_no_noise_is_drawn_without_budget(self) -> None:
        bits = Script([1, 2])
        with pytest.raises(BudgetExceeded):
            SvtStream(ScoreTable((0,)), 2, Accountant(1), bits)
        assert bits.waiting == [1, 2]

    def test_charge_survives_a_source_that_fails(self) -> None:
        accountant = Accountant(1)
        with pytest.raises(BitsExhausted):
            SvtStream(ScoreTable((0,)), 1, accountant, Script([]))
        assert accountant.spent[0] == 1

    def test_oracle_charges_one_accountant(self) -> None:
        accountant = Accountant(1)
        oracle = SvtOracle(ScoreTable((0,)), accountant)
        oracle.open_stream(fmpq(1, 2))
        oracle.open_stream(fmpq(1, 2))
        with pytest.raises(BudgetExceeded):
            oracle.open_stream(fmpq(1, 10**30))

    def test_bits_are_the_systems_by_default(self) -> None:
        assert isinstance(stream([0])._bits, SystemBits)
        assert isinstance(SvtOracle(ScoreTable((0,)), Accountant(1))._bits, SystemBits)


class TestScores:
    def test_clip(self) -> None:
        assert [clip(fmpq(each)) for each in (-3, 0, fmpq(1, 2), 1, 7)] == [0, 0, fmpq(1, 2), 1, 1]

    def test_records_are_clipped_and_counted(self) -> None:
        table = ScoreTable.from_records([[fmpq(1, 2), 5], [1, -5], [0, fmpq(1, 4)]])
        assert table.sums == (fmpq(3, 2), fmpq(5, 4)) and table.clipped == 2
        assert len(table) == 2

    @pytest.mark.parametrize("rows", [[], [[1], [1, 1]], [[]]])
    def test_ragged_or_no_records(self, rows: list[list[int]]) -> None:
        with pytest.raises(ValueError, match="at least one"):
            ScoreTable.from_records(rows)

    def test_query_is_a_function_of_one_record(self) -> None:
        records = Records((3, -1, 1))
        assert records.total(lambda x: x) == 2
        svt: SvtStream[Any] = SvtStream(records, 1, Accountant(1))
        assert svt.query(lambda x: x, -FAR)

    def test_value_of_a_query_must_be_exact(self) -> None:
        with pytest.raises(TypeError, match="value of the query"):
            Records((1,)).total(lambda x: float(x))  # type: ignore[arg-type, return-value]


class TestAboveThreshold:
    def test_first_that_reaches_its_threshold(self) -> None:
        table = ScoreTable((0, FAR, 0))
        accountant = Accountant(1)
        assert above_threshold(table, range(3), [FAR, 0, -FAR], 1, accountant) == 1
        assert accountant.spent[0] == 1

    def test_none(self) -> None:
        assert above_threshold(ScoreTable((0, 0)), [0, 1], [FAR, FAR], 1, Accountant(1)) is None

    def test_refusals_come_before_the_charge(self) -> None:
        accountant = Accountant(1)
        with pytest.raises(ValueError, match="one for each"):
            above_threshold(ScoreTable((0, 0)), [0, 1], [FAR], 1, accountant)
        with pytest.raises(TypeError, match="threshold 1"):
            above_threshold(ScoreTable((0, 0)), [0, 1], [FAR, float("nan")], 1, accountant)  # type: ignore[list-item]
        assert accountant.charges == 0

    def test_printed_comparison_is_not_strict(self) -> None:
        noise = SvtNoise(Geometric(fmpq(1, 4)), Geometric(fmpq(1, 2)))
        bits = Script([2**63] * 4)
        assert above_threshold(ScoreTable((7,)), [0], [7], 1, Accountant(1), bits, noise=noise) == 0

    def test_noise_of_the_paper(self) -> None:
        noise = SvtNoise.laplace(fmpq(1, 3))
        assert (noise.threshold.scale, noise.query.scale) == (6, 12)  # type: ignore[attr-defined]
        whole = SvtNoise.geometric(fmpq(1, 3))
        exponents = (whole.threshold.ratio.exponent, whole.query.ratio.exponent)  # type: ignore[attr-defined]
        assert exponents == (fmpq(1, 6), fmpq(1, 12))

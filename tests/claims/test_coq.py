"""The second kernel: coqc accepts every lemma that is exported."""

from pathlib import Path

import pytest
from coq_kernel import accepted, needs_coq
from one_claim import decided
from paper_results import paper_of, results

from certify.claims.coq.export import Export, export
from certify.claims.files import PAPERS, check_file
from constants.ledger import default_ledger

EXAMPLE = Path(__file__).parents[2] / "examples" / "claims" / "chernoff.toml"

FOR_ALL_PARAMETERS = {
    "release": [
        *(f"claim_lemma_7_1_{part}_1" for part in ("exponent", "exponent_large", "large")),
        *(f"claim_lemma_7_1_{part}_1" for part in ("sum_base", "sum_step", "sum_end", "weighted_sum_step")),
        *(f"claim_eq_6_near_{i}" for i in range(1, 5)),
        *(f"claim_eq_6_far_{i}" for i in range(1, 3)),
        *(f"claim_eq_8_growth_{i}" for i in range(1, 3)),
        "claim_lemma_7_1_1", "claim_eq_8_6_1", "claim_eq_8_7_1", "claim_thm_1_1_envelope_5", "claim_thm_1_1_zero_1",
    ],
    "selection": ["claim_thm_5_2_1", "claim_alg_9_count_end_1", "claim_eq_6__1__next_3"],
}  # fmt: skip


def exported_paper(paper: str) -> Export:
    return export([r for claim_id, r in results().items() if paper_of(claim_id) == paper])


@needs_coq
@pytest.mark.parametrize("paper", PAPERS)
def test_coq_accepts_the_paper(paper: str, tmp_path: Path) -> None:
    accepted(exported_paper(paper).text, tmp_path)


@pytest.mark.parametrize("paper", PAPERS)
def test_the_chain_is_exported_and_nothing_is_admitted(paper: str) -> None:
    exported = exported_paper(paper)
    assert set(FOR_ALL_PARAMETERS[paper]) <= set(exported.lemmas)
    for word in ("Admitted", "admit", "Axiom", "Parameter", "Abort"):
        assert word not in exported.text


@pytest.mark.parametrize("paper", PAPERS)
def test_what_coq_cannot_do_is_named_with_the_reason(paper: str) -> None:
    exported = exported_paper(paper)
    for name, reason in exported.left_out.items():
        assert reason.startswith(("touches at", "refuted, so", "cites"))
        assert f"left out: {name}" in exported.text or f"(* left out: {reason} *)" in exported.text
    touching = {name for name, reason in exported.left_out.items() if reason.startswith("touches")}
    assert (
        touching
        == {
            "release": {*(f"claim_sec_9_radius_sum_{i}" for i in range(1, 5)), "claim_lemma_a_1_1"},
            "selection": {"claim_fact_b_3_1"},
        }[paper]
    )


@needs_coq
def test_coq_accepts_the_example(tmp_path: Path) -> None:
    exported = export(check_file(EXAMPLE, default_ledger()))
    assert "claim_samples_1" in exported.lemmas
    accepted(exported.text, tmp_path)


@needs_coq
def test_coq_rejects_a_lemma_with_a_changed_constant(tmp_path: Path) -> None:
    exported = exported_paper("selection")
    lemma = exported.text.index("Lemma claim_thm_6_6_1 ")
    changed = exported.text[:lemma] + exported.text[lemma:].replace("384", "383")
    with pytest.raises(AssertionError, match="Error"):
        accepted(changed, tmp_path)


@needs_coq
@pytest.mark.parametrize(
    "text",
    [
        'variables = { x = "real [64, inf)" }\nclaim = "7 + 3*log(x)/log(2) <= x/2"',
        'variables = { x = "[0, 1]" }\nclaim = "x*exp(-x) <= 2/5"',
        'variables = { m = "integer (0, inf)" }\nwhere = "2*m < 7"\nclaim = "m <= 3"',
        'variables = { x = "real (0, inf)" }\nclaim = "log(4*x^2) <= 2*log(2) + 2*log(x)"',
        'variables = { x = "real [1, inf)" }\nclaim = "log(x + 1) > log(x)"',
        'variables = { x = "real [0, inf)" }\nclaim = "sqrt(x^2 + 1) >= x"',
        'variables = { e = "(0, 1]" }\nclaim = "e*ceil(3/e) < 4"\nproof.steps = ["e*ceil(3/e) < 3 + e"]',
        'variables = { I = "[0, 1]", S = "[1, 2]" }\nclaim = "I*S <= 2"',
    ],
)
def test_coq_accepts_claims_of_every_kind(text: str, tmp_path: Path) -> None:
    exported = export([decided(text)])
    assert exported.lemmas == ("claim_it_1",), exported.left_out
    accepted(exported.text, tmp_path)

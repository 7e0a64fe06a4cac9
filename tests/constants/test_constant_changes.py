"""A changed constant is noticed, the statements that depend on it are named, and what falls is refuted."""

from collections.abc import Callable

import pytest

from certify.arithmetic.verdict import Verdict
from certify.instance_file import InstanceTree
from certify.release.statements import STATEMENT_IDS
from certify.selection.statements import STATEMENT_IDS as SELECTION_IDS
from certify.theory import RELEASE, SELECTION, theory_of
from constants.golden import GOLDEN, read_golden
from constants.instance_checks import built_in_instances, check_on_instances
from constants.ledger import Domain, Ledger, default_ledger
from constants.regression import Dependent, Regression, check
from constants.relations import prove_all
from constants.universal_checks import ClaimVerdict, check_claims, is_misprint, statement_of

RECORDS = read_golden(GOLDEN.read_text(encoding="utf-8"))


def silent(_: str) -> None:
    pass


def checked(ledger: Ledger, *, shipped: bool = False) -> Regression:
    return check(ledger, RECORDS, shipped=shipped, progress=silent)


def changed(**values: str) -> Regression:
    return checked(default_ledger().replaced({name.replace("_", "-"): value for name, value in values.items()}))


def by_statement(result: Regression) -> dict[str, Dependent]:
    return {each.statement: each for each in result.dependents}


def test_the_shipped_ledger_is_proved_and_nothing_depends_on_a_change() -> None:
    result = checked(default_ledger(), shipped=True)
    assert result.verdict is Verdict.PROVED
    assert (result.changes, result.dependents) == ([], [])


@pytest.fixture
def without_claims(monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """Replace the universal claims, which take their time, by given verdicts."""

    def replace(*verdicts: ClaimVerdict) -> None:
        monkeypatch.setattr("constants.regression.check_claims", lambda ledger, ids: list(verdicts))

    replace()
    return replace


@pytest.mark.usefixtures("without_claims")
@pytest.mark.parametrize(
    ("constant_id", "value", "refuted"),
    [
        ("maurey", "1/1000", "lemma-5.1"),
        ("rho", "1/100", "prop-3.1"),
        ("kappa", "1/1000", "lemma-6.1"),
        ("softmax-gap", "1/10", "lemma-a.3"),
        ("envelope-ratio", "1/4", "prop-4.1.transcript"),
        ("near-growth", "1", "eq-6.near"),
        ("block-mass", "1/10", "lemma-7.1"),
        ("damping-width", "1", "eq-7.damping"),
        ("growth-rate", "1/1000", "eq-7.growth"),
        ("rounds-upper", "16", "eq-8.choice"),
        ("final-error", "exp(1)/2", "eq-8.7"),
        ("trivial-error", "1/10", "thm-1.1"),
    ],
)
def test_a_constant_made_too_small_is_noticed_named_and_refuted(constant_id: str, value: str, refuted: str) -> None:
    result = checked(default_ledger().replaced({constant_id: value}))
    assert [(each.id, each.order.value) for each in result.changes] == [(constant_id, "smaller")]
    dependents = by_statement(result)
    assert set(default_ledger()[constant_id].used_by) <= set(dependents)
    instances = dependents[refuted].instances
    assert instances is not None and instances.verdict is Verdict.REFUTED
    assert ".json: " in instances.reason and " > " in instances.reason
    assert dependents[refuted].answer == "REFUTED"
    assert constant_id in dependents[refuted].constants
    assert result.verdict is Verdict.REFUTED


@pytest.mark.usefixtures("without_claims")
def test_a_failing_relation_is_said_to_break_the_proof_not_the_statement() -> None:
    result = changed(theorem_constant="2^19*exp(1)")
    theorem = by_statement(result)["thm-1.1"]
    assert theorem.instances is not None and theorem.instances.verdict is Verdict.PROVED
    assert theorem.answer == "NOT PROVED: a relation fails"
    assert theorem.verdict is result.verdict is Verdict.REFUTED


@pytest.mark.usefixtures("without_claims")
def test_a_relation_names_the_statements_of_the_constant_that_it_bounds() -> None:
    dependents = by_statement(changed(selection_choice="64"))
    assert dependents["eq-8.choice"].answer == "NOT PROVED: a relation fails"
    assert [p.verdict for p in dependents["eq-8.choice"].relations].count(Verdict.REFUTED) == 1


@pytest.mark.usefixtures("without_claims")
def test_instances_alone_never_prove_a_statement() -> None:
    result = changed(moment="2", near_growth="7", ball_growth="8")
    lemma = by_statement(result)["lemma-6.1"]
    assert lemma.instances is not None and lemma.instances.verdict is Verdict.PROVED
    assert (lemma.verdict, lemma.answer) == (Verdict.UNDECIDED, "undecided")
    assert result.verdict is Verdict.UNDECIDED


def test_a_universal_claim_decides_its_statement(without_claims: Callable[..., None]) -> None:
    for verdict, answer in (
        (Verdict.PROVED, "proved for all parameters"),
        (Verdict.UNDECIDED, "undecided"),
        (Verdict.REFUTED, "REFUTED"),
    ):
        without_claims(
            ClaimVerdict("eq-7.growth", ("growth-rate",), Verdict.PROVED, ""),
            ClaimVerdict("lemma-7.1.large", ("growth-rate",), verdict, "why"),
        )
        dependents = by_statement(changed(growth_rate="1/101"))
        assert dependents["eq-7.growth"].answer == "proved for all parameters"
        assert dependents["lemma-7.1"].answer == answer


def test_claims_that_do_not_speak_of_every_changed_constant_prove_nothing(without_claims: Callable[..., None]) -> None:
    without_claims(ClaimVerdict("lemma-7.1", ("growth-rate",), Verdict.PROVED, ""))
    one = by_statement(changed(growth_rate="1/101"))["lemma-7.1"]
    assert (one.answer, one.uncovered) == ("proved for all parameters", ())
    two = by_statement(changed(growth_rate="1/101", block_decay="1/4"))["lemma-7.1"]
    assert (two.answer, two.uncovered) == ("undecided", ("block-decay",))


def test_accuracy_and_noise_changed_together_are_judged_together() -> None:
    changes = {"svt-accuracy": "9", "svt-query-scale": "40"}
    claims = {each.id: each for each in check_claims(default_ledger().replaced(changes), list(changes))}
    assert claims["thm-5.2"].verdict is Verdict.REFUTED
    changes = {"svt-query-scale": "2"}  # no value: the two scales are equal
    claims = {each.id: each for each in check_claims(default_ledger().replaced(changes), list(changes))}
    assert claims["thm-5.2"].verdict is Verdict.UNDECIDED


def test_the_claims_of_the_release_paper_follow_the_ledger() -> None:
    ledger = default_ledger()
    proved = {each.id: each for each in check_claims(ledger.replaced({"growth-rate": "1/150"}), ["growth-rate"])}
    assert proved["eq-7.growth"].verdict is Verdict.PROVED
    assert proved["lemma-7.1.exponent"].verdict is Verdict.PROVED
    refuted = {each.id: each for each in check_claims(ledger.replaced({"growth-rate": "1/250"}), ["growth-rate"])}
    assert refuted["eq-7.growth"].verdict is Verdict.REFUTED
    assert refuted["eq-7.growth"].reason
    assert all("growth-rate" in each.constants for each in refuted.values())
    assert check_claims(ledger, []) == []


def test_a_claim_that_the_ledger_makes_meaningless_is_undecided() -> None:
    broken = default_ledger().replaced({"growth-rate": "1/0"})
    assert {each.verdict for each in check_claims(broken, ["growth-rate"])} <= {Verdict.UNDECIDED}


@pytest.mark.parametrize(
    ("claim", "statement"),
    [
        ("lemma-7.1", "lemma-7.1"),
        ("lemma-7.1.exponent-large", "lemma-7.1"),
        ("thm-1.1.zero", "thm-1.1"),
        ("prop-4.1.answer", "prop-4.1.answer"),
        ("eq-8.logs", "eq-8.logs"),
    ],
)
def test_a_claim_belongs_to_the_statement_whose_id_it_extends(claim: str, statement: str) -> None:
    assert statement_of(claim, STATEMENT_IDS) == statement


def test_on_the_built_in_instances_every_statement_applies_and_is_proved_unless_misprinted() -> None:
    verdicts = check_on_instances(default_ledger(), (*STATEMENT_IDS, *SELECTION_IDS))
    assert list(verdicts) == [*STATEMENT_IDS, *SELECTION_IDS]
    refuted = {statement for statement, each in verdicts.items() if each.verdict is not Verdict.PROVED}
    assert refuted == {"thm-5.2.printed", "alg-9.count.printed", "alg-9.stop.printed"}
    assert {verdicts[statement].verdict for statement in refuted} == {Verdict.REFUTED}


def test_built_in_instances_are_of_the_theory_of_their_folder_and_name_only_its_statements() -> None:
    for theory in (RELEASE, SELECTION):
        instances = built_in_instances(theory)
        assert instances
        for tree in instances.values():
            assert tree.get("theory") == theory.name and theory_of(tree) is theory
            theory.parse(tree, default_ledger())  # an unknown statement would be refused
    named = {each for tree in built_in_instances(SELECTION).values() for each in _statements(tree)}
    assert named == set(SELECTION_IDS)


def _statements(tree: InstanceTree) -> tuple[str, ...]:
    return tuple(SELECTION.parse(tree, default_ledger()).statements)


# statement of the selection paper: a constant made too small or too large, and what an instance or a claim shows then
SELECTION_CHANGES = {
    "thm-4.4.chain": ("information-bound", "1/50"),
    "zcdp-to-dp": ("zcdp-conversion", "5"),
    "thm-5.1": ("svt-query-scale", "2"),
    "thm-5.1.variants": ("svt-privacy", "1/2"),
    "thm-5.2": ("svt-accuracy", "1"),
    "alg-4.privacy": ("ctt-gap", "2"),
    "thm-6.1": ("binary-search-share", "1"),
    "thm-6.3": ("svt-query-scale", "2/5"),
    "lemma-6.4": ("search-accuracy", "4"),
    "lemma-6.5": ("search-halving", "1/3"),
    "thm-6.6": ("search-error", "96"),
    "cor-6.7": ("search-error", "96"),
    "cor-6.8": ("search-error", "96"),
    "eq-6.(1)": ("phase-offset", "6"),
    "alg-9.count": ("run-count-power", "1"),
    "lemma-6.9": ("phase-budget", "1"),
    "lemma-6.10": ("phase-run", "4"),
    "lemma-6.11": ("query-cube", "1/2"),
    "thm-6.12": ("selection-error", "775"),
}


@pytest.mark.usefixtures("without_claims")
@pytest.mark.parametrize(("statement", "change"), SELECTION_CHANGES.items())
def test_a_selection_statement_is_refuted_by_an_instance_under_a_changed_ledger(
    statement: str, change: tuple[str, str]
) -> None:
    found = by_statement(changed(**{change[0].replace("-", "_"): change[1]}))[statement]
    assert found.instances is not None and found.instances.verdict is Verdict.REFUTED
    assert (found.answer, found.verdict) == ("REFUTED", Verdict.REFUTED)


def test_every_selection_statement_that_can_fail_is_changed_here() -> None:
    misprints = {statement for statement in SELECTION_IDS if is_misprint(statement)}
    assert len(misprints) == 3
    assert set(SELECTION_CHANGES) == set(SELECTION_IDS) - misprints - {"alg-9.reach"}  # which only reports


@pytest.mark.parametrize(
    ("constant_id", "value", "statement", "reason"),
    [
        ("search-error", "383", "thm-6.6", "fails at"),
        ("selection-error", "775", "thm-6.12", "fails at"),
        ("phases-budget", "1/65", "lemma-6.9", "fails at"),
        ("svt-accuracy", "2", "thm-5.2", "fails at K = 1"),
    ],
)
def test_a_universal_claim_of_the_selection_paper_refutes(
    constant_id: str, value: str, statement: str, reason: str
) -> None:
    claims = check_claims(default_ledger().replaced({constant_id: value}), [constant_id])
    verdicts = {each.id: each for each in claims if each.id == statement}
    assert verdicts[statement].verdict is Verdict.REFUTED and reason in verdicts[statement].reason


def test_an_abstract_form_that_fails_refutes_nothing() -> None:
    claims = check_claims(default_ledger().replaced({"mwem-update": "3"}), ["mwem-update"])
    (lemma,) = claims
    assert (lemma.id, lemma.verdict) == ("lemma-b.4", Verdict.UNDECIDED)
    assert "the abstract form fails at" in lemma.reason


def test_a_constant_of_no_instance_is_proved_for_all_parameters_where_that_is_so() -> None:
    result = changed(mwem_noise="5", svt_query_scale="5")
    dependents = by_statement(result)
    assert dependents["lemma-7.6"].answer == "proved for all parameters"
    assert dependents["lemma-7.6"].instances is None
    assert dependents["thm-5.1"].answer == "proved for all parameters"
    assert dependents["thm-5.1"].instances is not None


@pytest.mark.usefixtures("without_claims")
def test_a_misprint_stays_refuted_and_condemns_no_ledger() -> None:
    result = changed(svt_query_scale="5")
    misprint = by_statement(result)["thm-5.2.printed"]
    assert (misprint.answer, misprint.verdict, misprint.relations) == ("refuted, as before", None, ())
    assert result.verdict is not Verdict.REFUTED
    mended = by_statement(changed(run_count_multiple="100"))["alg-9.count.printed"]
    assert (mended.answer, mended.verdict) == ("undecided", Verdict.UNDECIDED)


def test_misprints_are_decided_but_not_other_claims_that_are_expected_to_fail() -> None:
    claims = {each.id: each.verdict for each in check_claims(default_ledger(), ["svt-threshold-scale"])}
    assert claims == {"thm-5.1": Verdict.PROVED, "thm-5.2": Verdict.PROVED, "thm-5.2.printed": Verdict.REFUTED}
    assert check_claims(default_ledger(), ["alpha-log-base"]) == []  # thm-6.12.natural-log reads the paper otherwise


@pytest.mark.usefixtures("without_claims")
def test_a_statement_that_nothing_decides_is_undecided() -> None:
    dependents = by_statement(changed(mwem_rate="40"))
    assert (dependents["cor-7.5"].answer, dependents["cor-7.5"].instances) == ("undecided", None)


@pytest.mark.parametrize(
    ("constant_id", "value", "statement", "reason"),
    [
        ("theorem-threshold", "1/10^9", "thm-1.1", "J is beyond 10,000 rounds"),
        ("rounds-choice", "2000", "eq-8.choice", "too large to enumerate"),
        ("growth-hypothesis", "2^-4000", "eq-7.growth", "its hypotheses hold on no built-in instance"),
        ("final-rounds", "10^9", "thm-6.12", "the constant final-rounds is an exponent beyond 1,000"),
        ("binary-search-stop", "1", "thm-6.1", "Algorithm 6 does not end within 2,000 rounds"),
    ],
)
def test_what_cannot_be_run_is_undecided_with_the_reason(
    constant_id: str, value: str, statement: str, reason: str
) -> None:
    found = check_on_instances(default_ledger().replaced({constant_id: value}), [statement])[statement]
    assert found.verdict is Verdict.UNDECIDED
    assert reason in found.reason


@pytest.mark.parametrize("constant_id", [c.id for c in default_ledger().constants.values() if c.paper_id == "release"])
def test_no_release_constant_can_move_by_a_factor_of_ten_both_ways_unnoticed(constant_id: str) -> None:
    constant = default_ledger()[constant_id]
    text = constant.value.text()
    moved = {
        Domain.RATIONAL: (f"{text} + 1", f"{text} - 1"),
        Domain.POSITIVE_INTEGER: (f"10*({text})", f"100*({text})"),
    }.get(constant.domain, (f"10*({text})", f"({text})/10"))
    ledgers = [default_ledger().replaced({constant_id: value}) for value in moved]
    refuted = [proof.verdict for ledger in ledgers for proof in prove_all(ledger)]
    if Verdict.REFUTED not in refuted:
        refuted = [v.verdict for each in ledgers for v in check_on_instances(each, constant.used_by).values()]
    assert Verdict.REFUTED in refuted


def test_statements_of_no_catalogue_are_not_run() -> None:
    assert check_on_instances(default_ledger(), ["lemma-7.4", "eq-8.logs"]) == {}


@pytest.mark.usefixtures("without_claims")
def test_the_shipped_ledger_must_be_as_recorded() -> None:
    ledger = default_ledger().replaced({"renyi": "2"})
    assert checked(ledger, shipped=False).verdict is Verdict.UNDECIDED
    assert checked(ledger, shipped=True).verdict is Verdict.REFUTED
    missing = {each: RECORDS[each] for each in RECORDS if each != "renyi"}
    unrecorded = check(default_ledger(), missing, shipped=True, progress=silent)
    assert [each.order.value for each in unrecorded.changes] == ["not recorded"]
    assert unrecorded.verdict is Verdict.REFUTED
    assert unrecorded.dependents == []

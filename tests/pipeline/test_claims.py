"""What a sentence says of a claim: the same, the opposite, or neither; and how a pasted text is cut into claims."""

import pytest

from qa_app.pipeline.claims import Skipped, split_claims
from qa_app.pipeline.concepts import ConceptIndex
from qa_app.pipeline.verification.assertions import assertion
from qa_app.pipeline.verification.statements import StatementReader
from tests.pipeline.values import make_concept

READER = StatementReader.build(
    ConceptIndex.build(
        (
            make_concept("compost", kind="intervention", aliases=("rotted leaves",)),
            make_concept("root-growth", aliases=("growth of roots",)),
            make_concept("leaf-area"),
            *(make_concept(name, kind="intervention") for name in ("mulching", "gardening", "liming", "night-cover")),
        )
    )
)


@pytest.mark.parametrize(
    ("claim", "source", "stance"),
    [
        # the same, in other words and the other way round
        ("Rotted leaves increase root growth.", "Compost improved the growth of roots.", "supports"),
        ("Clay soil held more water than sand.", "Water was lower in sand than in clay soil.", "supports"),
        ("Mulch does not reduce weeds.", "Mulch made no difference to weeds.", "supports"),
        ("Pots dry as much as beds.", "Pots and beds dry similarly.", "supports"),
        ("Mulch lost less water than bare beds.", "Bare beds lost more water than mulch.", "supports"),
        ("Compost raised leaf area.", "Compost lowered root growth, but also increased leaf area.", "supports"),
        ("Frost damage fell with fleece.", "With fleece, the reduction in frost damage was larger.", "supports"),
        # the opposite: direction, denial, no difference, order of the sides, figures
        ("Compost increases root growth.", "Compost reduced root growth.", "contradicts"),
        ("Mulch increases yield of beans.", "Mulch did not increase yield of beans.", "contradicts"),
        ("Mulch increases yield of beans.", "Yield of beans did not differ with mulch.", "contradicts"),
        ("Clay soil held more water than sand.", "Sand held more water than clay soil.", "contradicts"),
        ("Pots dry as much as beds.", "Pots do not dry as much as beds.", "contradicts"),
        ("Watering raised yield by 40%.", "Watering raised yield by 12%.", "contradicts"),
        ("Mulch raised yield of beans.", "Mulch raised yield of beans, but not significantly.", "contradicts"),
        # neither: another outcome, one side alone, an aim, figures without their unit
        ("Compost increases root growth.", "Compost increased leaf area.", None),
        ("Clay soil held more water than sand.", "Water rose in sand.", None),
        ("Mulch increases yield of beans.", "We examined whether mulch increases yield of beans.", None),
        ("Watering raised yield by 40%.", "Watering raised yield.", None),
        ("Saunas lower blood pressure.", "Compost lowered root growth.", None),
        # judgements: only of the same quality, and of the side that is named
        (
            "Straw is better than bark for beans.",
            "Beans rose with straw and with bark, an advantage for straw.",
            "supports",
        ),
        ("Mulch is not safe for frogs.", "Mulch made no difference to frogs.", None),
        ("Mulch is not safe for frogs.", "Mulch was safe for frogs.", "contradicts"),
        ("Mulch does not harm frogs.", "Mulch was safe for frogs.", "supports"),
        ("Straw makes stems stronger.", "With straw, leaf weight of stems fell.", None),
        ("Straw makes stems stronger.", "With straw, the strength of stems rose.", "supports"),
        # a lack, a joined comparative, a guess and a small amount deny nothing
        ("Compost does not raise yield of beans.", "Without water, compost did not raise yield of beans.", None),
        ("Pots give beans enough light.", "Pots gave beans enough light, more than those with no window.", None),
        ("Straw shrinks leaves of beans.", "Lower-stem leaves of beans became denser with straw.", None),
        ("Straw lowers yield of beans.", "Straw may raise yield of beans.", None),
        ("Straw raises yield of beans.", "Straw adds a little yield of beans.", None),
        # what ought to be done: only advice speaks on it
        ("You should add compost.", "Compost increased root growth.", None),
        ("You must not add compost.", "Compost did not increase root growth.", None),
        ("You should add compost.", "The panel recommends to add compost.", "supports"),
        ("You need to add compost.", "The panel advises against compost.", "contradicts"),
        ("You should not add compost.", "It is not necessary to add compost.", "supports"),
        # what is done: named itself, alone, and neither given nor what all did anyway
        ("Digging increases root growth.", "Gardening increased root growth.", None),
        ("Mulching increases root growth.", "Gardening increased root growth.", None),
        ("Mulching increases root growth.", "Mulching with liming increased root growth.", None),
        ("Mulching with liming increases root growth.", "Growth of roots rose with mulching and liming.", "supports"),
        ("Mulching increases root growth.", "During mulching, liming did not increase root growth.", None),
        ("Mulching increases root growth.", "For a given mulching, liming did not increase root growth.", None),
        # no difference between two says nothing of one; nor does a result that was not sought
        ("Mulching does not increase root growth.", "Root growth did not differ between mulching and liming.", None),
        ("Mulching does not increase root growth.", "Root growth with mulching was less than with liming.", None),
        ("Mulching has no effect on root growth.", "Mulching made no difference to root growth.", "supports"),
        ("Mulching increases root growth.", "They did not study root growth with mulching.", None),
        ("Mulching increases root growth.", "They did not say why mulching affects root growth.", None),
        # a limit and a bracket deny nothing; a condition makes another claim
        (
            "Mulching only slightly increases root growth.",
            "With mulching, growth of roots rose at most slightly.",
            "supports",
        ),
        ("Mulching increases root growth.", "With mulching (without a spade), growth of roots rose.", "supports"),
        (
            "Straw holds more water at the same depth than bark.",
            "Straw holds more water at lower depth than bark.",
            None,
        ),
        # nearly word for word, but for one thing that no list names
        (
            "Coffee grounds kept slugs away from beds of lettuce.",
            "Copper tape kept slugs away from beds of lettuce.",
            None,
        ),
    ],
)
def test_a_sentence_supports_or_contradicts_a_claim_or_neither(claim: str, source: str, stance: str | None) -> None:
    found = READER.compare(READER.read(claim), READER.read(source), READER.words(source))

    assert (found and found.stance.value) == stance


@pytest.mark.parametrize(
    ("said", "asserted"),
    [
        ("And experts say mulch works.", "Mulch works."),
        ("A new study shows that mulch works.", "Mulch works."),
        ("According to some scientists, mulch works.", "Mulch works."),
        ("No study shows that mulch works.", "No study shows that mulch works."),
    ],
)
def test_who_says_so_is_no_part_of_a_claim(said: str, asserted: str) -> None:
    assert assertion(said) == asserted


def test_people_that_the_sentence_does_not_name_are_told() -> None:
    claim = READER.read("Digging reduced back pain in women.")

    same, other, nobody = (
        READER.compare(claim, READER.read(source))
        for source in (
            "In older women, digging every day reduced back pain.",
            "Digging reduced back pain in men.",
            "Digging reduced back pain.",
        )
    )

    assert same
    assert same.is_on_same_people
    assert other
    assert other.other_people == {"men"}
    assert nobody
    assert not nobody.is_on_same_people
    assert READER.read("Dutch advice for nurses who train: dig, as Dutch nurses do.").people == {"dutch", "nurse"}
    assert not READER.read("The activation rose with age in aged soil, recreationally.").people
    assert not READER.read("American advice is to train more.").people


def test_a_transcript_is_cut_into_claims_without_its_speakers() -> None:
    text = "[00:12] Anna Smith: Mulch keeps beds moist all year. Right?\r\n• Clay holds more water than sand does!\nOne bed is as good as two.\nNo."

    found = split_claims(text)

    assert [(claim.text, claim.skipped) for claim in found] == [
        ("Mulch keeps beds moist all year.", None),
        ("Right?", Skipped.QUESTION),
        ("Clay holds more water than sand does!", None),
        ("One bed is as good as two.", None),
        ("No.", Skipped.TOO_SHORT),
    ]
    assert all(text[claim.start : claim.end] == claim.text for claim in found)

"""Edit sentences of a corpus as a careless or hostile writer might, to measure verification.

The word lists were chosen independently of the verifier's own.
"""

from __future__ import annotations

import gzip
import json
import random
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from corpus_app import models, search
from corpus_app.records import (
    AgeGroup,
    Design,
    Hit,
    Notice,
    Passage,
    PassageKind,
    Section,
    Sentence,
    Sex,
    Status,
    Study,
    TrainingStatus,
)
from qa_app.evaluation.measures import wilson_interval
from qa_app.pipeline.query import Intent, Query
from qa_app.pipeline.records import Candidate, DraftSentence, Evidence, LeftOut, Question
from qa_app.pipeline.records import Sentence as VerifiedSentence
from qa_app.pipeline.verification import verify

Verify = Callable[[Sequence[DraftSentence], Evidence], tuple[tuple[VerifiedSentence, ...], tuple[LeftOut, ...]]]

MUTATIONS = ("number", "unit", "range", "other study", "negation", "direction", "population")
FAITHFUL = ("verbatim", "trimmed", "joined")
_SHORTEST, _LONGEST = 6, 60  # words of a sentence that is edited


def evaluate(abstracts: Sequence[Path], *, n: int, seed: int, report: Callable[[str], None]) -> dict[str, Any]:
    """Run `measure` on the live corpus and on each file of abstracts, with `n` sentences in all. Raises TooFew."""
    sets = {"corpus": searchable_passages(), **{path.name: read_abstracts(path) for path in abstracts}}
    each = max(1, n // (len(sets) * len((*MUTATIONS, *FAITHFUL))))
    figures = {}
    for name, passages in sets.items():
        report(name)
        figures[name] = measure(edit(passages, each=each, seed=seed), verify)
    return figures


def searchable_passages() -> tuple[Passage, ...]:
    """Return the searchable passages of the corpus."""
    ids = models.Passage.objects.searchable().order_by("pk").values_list("pk", flat=True)
    return search.load_passages(list(ids))


@dataclass(frozen=True, slots=True)
class Edited:
    kind: str
    how: str
    text: str
    passage: Passage
    """The cited passage."""
    source: str
    other_passage: Passage | None = None
    """The true source, where the evidence contains it too."""


class TooFew(ValueError):
    """An error: the corpus has too few sentences of a kind."""


def read_abstracts(path: Path) -> tuple[Passage, ...]:
    """Read a SciFact file (`doc_id`, `title`, `abstract`: list of sentences), each abstract as one passage."""
    data = gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()
    return tuple(_abstract(json.loads(line)) for line in data.decode("utf-8").splitlines())


def _abstract(row: dict[str, object]) -> Passage:
    sentences, place, texts = [], 0, [str(s).strip() for s in row["abstract"]]  # type: ignore[attr-defined]
    for text in texts:
        sentences.append(Sentence(place, place + len(text)))
        place += len(text) + 1
    number = int(str(row["doc_id"]))
    study = Study(
        f"D{number}", str(row["title"]), (), None, None, None, None, Design.OTHER, True, "abstracts", "",
        TrainingStatus.NOT_REPORTED, AgeGroup.NOT_REPORTED, Sex.NOT_REPORTED, Status.PUBLISHED, Notice.NONE,
    )  # fmt: skip
    return Passage(
        -number, 1, study, 0, Section.ABSTRACT, None, str(row["title"]), " ".join(texts), PassageKind.EXCERPT,
        tuple(sentences),
    )  # fmt: skip


def edit(passages: Sequence[Passage], *, each: int, seed: int) -> tuple[Edited, ...]:
    """Draw `each` random sentences of every kind and edit them. Raises TooFew."""
    rng = random.Random(seed)  # noqa: S311 - drawing sentences, not secrets
    edited: list[Edited] = []
    if not passages:
        raise TooFew("There is no passage to take sentences from.")
    for kind in (*MUTATIONS, *FAITHFUL):
        found: list[Edited] = []
        for _ in range(each * 200):
            if len(found) == each:
                break
            passage = rng.choice(passages)
            made = _edit(kind, passage, passages, rng)
            if (
                made is not None
                and made.text not in passage.text.split("\0")
                and (kind in FAITHFUL or made.text not in passage.text)
            ):
                found.append(made)
        if len(found) < each:
            raise TooFew(f"Only {len(found)} sentences could be edited: {kind}.")
        edited += found
    return tuple(edited)


def measure(edited: Sequence[Edited], verified: Verify) -> dict[str, Any]:
    """Verify the sentences and return, for each kind, the share with the right result and its 95 % Wilson interval.

    Also return the verifier's reasons and the sentences with a wrong result.
    """
    by_kind: dict[str, dict[str, Any]] = {}
    through: list[dict[str, str]] = []
    for kind in (*MUTATIONS, *FAITHFUL):
        rows = [row for row in edited if row.kind == kind]
        reasons: dict[str, int] = {}
        left = 0
        for row in rows:
            kept, fallen = verified([DraftSentence(row.text, (row.passage.passage_id,))], _evidence(row))
            is_out = any(sentence.text == row.text for sentence in kept)
            left += is_out
            for entry in fallen:
                reasons[entry.reason.value] = reasons.get(entry.reason.value, 0) + 1
            if is_out is (kind in MUTATIONS):
                why = [k.kind.value for k in kept] or [f"{f.reason.value}: {f.detail}" for f in fallen]
                through.append(
                    {"kind": kind, "how": row.how, "text": row.text, "source": row.source, "why": "; ".join(why)}
                )
        counted = left if kind in FAITHFUL else len(rows) - left
        by_kind[kind] = {
            "n": len(rows),
            "kept" if kind in FAITHFUL else "caught": round(counted / len(rows), 4),
            "interval": [round(bound, 4) for bound in wilson_interval(counted, len(rows))],
            "reasons": dict(sorted(reasons.items())),
        }
    return {"n": len(edited), "kinds": by_kind, "wrong": through}


def _evidence(row: Edited) -> Evidence:
    passages = (row.passage,) if row.other_passage is None else (row.passage, row.other_passage)
    found = tuple(Candidate(p, Hit(p.passage_id, 1.0, 0.5), 1.0, 1.0) for p in passages)
    return Evidence(Question("", ""), Query("", "", "", "en", Intent.CLAIM, "", ()), found)


# --- Edits ----------------------------------------------------------------------------------------------------------


def _edit(kind: str, passage: Passage, passages: Sequence[Passage], rng: random.Random) -> Edited | None:
    if not passage.sentences:
        return None
    place = rng.randrange(len(passage.sentences))
    source = _sentence(passage, place)
    if not _SHORTEST <= len(source.split()) <= _LONGEST or not source.endswith("."):
        return None
    if kind == "other study":
        return _other_study(source, passage, passages, rng)
    if kind == "verbatim":
        return Edited(kind, "whole sentence", source, passage, source)
    if kind == "joined":
        return _join(passage, place, rng)
    if kind == "trimmed":
        made = rng.choice(_TRIMS)(source, rng)
        return Edited(kind, made[0], made[1], passage, source) if made and len(made[1].split()) >= 4 else None
    near = rng.choice(_DISGUISES)(source)
    made = _MUTATE[kind](near, rng)
    return None if made is None or made[1] == near else Edited(kind, made[0], made[1], passage, source)


def _sentence(passage: Passage, place: int) -> str:
    return passage.text[passage.sentences[place].start : passage.sentences[place].end]


def _other_study(source: str, passage: Passage, passages: Sequence[Passage], rng: random.Random) -> Edited | None:
    """Cite another study for a sentence of this passage, which may or may not be part of the evidence."""
    other = rng.choice(passages)
    if other.study.study_id == passage.study.study_id or source in other.text:
        return None
    how = rng.choice(("verbatim", "trimmed", "beside"))
    trimmed = rng.choice(_TRIMS)(source, rng) if how == "trimmed" else None
    text = trimmed[1] if trimmed else source
    if len(text.split()) < _SHORTEST:
        return None
    return Edited("other study", how, text, other, source, passage if how == "beside" else None)


_CLAUSE = re.compile(r"^([^,;()]{4,80}), (?=\w)")
_REPORT = re.compile(
    r"^(?:[^,;()]{0,80}\b(?:found|showed?|demonstrated?|reported|concluded|revealed?|indicated?)) that (?=\w)"
)
_LEADING = re.compile(r"^(However|Moreover|Furthermore|Overall|Thus|Therefore|Here|Finally|Notably|Importantly),? ")
_BRACKET = re.compile(r" ?\([^()]{1,120}\)")
_LAST_CLAUSE = re.compile(
    r"^(.{30,}?)[,;] (?:and|but|whereas|while|which|although|with|suggesting|indicating|including)\b[^;]*\.$"
)
_DEPENDENT_START = re.compile(
    r"(?:or|and|but|nor|since|whereas|so|which|because|while|although|known|from|including|such)\b"
)
_INCOMPLETE_END = re.compile(
    r"(?:\b(?:and|or|but|not|than|as|compared|by|in|on|of|with|to|for|from|at|between|probably|rather|"
    r"associated"
    r"|caused|that|which|is|are|was|were|be|both|either|more|less|only|the|a|when|while|including|also|as well)|[,;])$"
)
_PHRASE = re.compile(r"^(.{40,}) (?:in|after|during|with|among|compared|between|from|at|by|for) [^,;.]{5,80}\.$")

Edit = Callable[[str, random.Random], "tuple[str, str] | None"]


def _cut(pattern: re.Pattern[str], how: str) -> Edit:
    def trim(text: str, _: random.Random) -> tuple[str, str] | None:
        found = pattern.match(text)
        return (how, _capital(text[found.end() :])) if found and not _DEPENDENT_START.match(text, found.end()) else None

    return trim


def _bracket(text: str, rng: random.Random) -> tuple[str, str] | None:
    found = list(_BRACKET.finditer(text))
    if not found:
        return None
    gone = rng.choice(found)
    return "bracket", text[: gone.start()] + text[gone.end() :]


def _keep(pattern: re.Pattern[str], how: str) -> Edit:
    def trim(text: str, _: random.Random) -> tuple[str, str] | None:
        found = pattern.match(text)
        if (
            not found
            or found.group(1).count("(") != found.group(1).count(")")
            or _INCOMPLETE_END.search(found.group(1))
        ):
            return None
        return how, found.group(1) + "."

    return trim


_TRIMS: tuple[Edit, ...] = (
    _cut(_CLAUSE, "opening clause"), _cut(_REPORT, "report"), _cut(_LEADING, "opening word"), _bracket,
    _keep(_LAST_CLAUSE, "last clause"), _keep(_PHRASE, "last phrase"),
)  # fmt: skip


def _join(passage: Passage, place: int, rng: random.Random) -> Edited | None:
    if place + 1 >= len(passage.sentences):
        return None
    first, second = _sentence(passage, place), _sentence(passage, place + 1)
    if not second.endswith(".") or not 4 <= len(second.split()) <= _LONGEST:
        return None
    how = rng.choice(("; ", ", and ", ", while ", " and ", ", but "))
    if rng.random() < 0.4:
        trimmed = rng.choice(_TRIMS)(second, rng)
        second = trimmed[1] if trimmed and len(trimmed[1].split()) >= 4 else second
    return Edited(
        "joined", how.strip(), f"{first[:-1]}{how}{second[0].lower()}{second[1:]}", passage, f"{first} {second}"
    )


_DISGUISES: tuple[Callable[[str], str], ...] = (
    lambda text: text,
    lambda text: text,
    lambda text: (
        _BRACKET.sub("", text) if len(_BRACKET.findall(text)) == 1 and not re.search(r"\(.*\d.*\)", text) else text
    ),
    lambda text: re.sub(r"\bthe ", "", text, count=1),
    lambda text: text.replace(" was ", " is ", 1).replace(" were ", " are ", 1),
    lambda text: _capital(_LEADING.sub("", text)),
)

# Numbers, units, ranges.
_DIGITS = re.compile(r"(?<![\w.,])\d+(?:\.\d+)?(?![\w]|[.,]\d)")
_SPELLED = (
    "one two three four five six seven eight nine ten eleven twelve fifteen twenty thirty forty fifty hundred half "
    "twice"
).split()
_SPELLED_NUMBER = re.compile(rf"\b(?:{'|'.join(_SPELLED)})\b", re.IGNORECASE)


def _number(text: str, rng: random.Random) -> tuple[str, str] | None:
    figures, spelt = list(_DIGITS.finditer(text)), list(_SPELLED_NUMBER.finditer(text))
    if len(figures) > 1 and rng.random() < 0.25:
        first, second = sorted(rng.sample(figures, 2), key=lambda m: m.start())
        swapped = (
            text[: first.start()]
            + second.group()
            + text[first.end() : second.start()]
            + first.group()
            + text[second.end() :]
        )
        return ("swapped", swapped) if float(first.group()) != float(second.group()) else None
    if spelt and (not figures or rng.random() < 0.3):
        found = rng.choice(spelt)
        other = rng.choice([word for word in _SPELLED if word != found.group().lower()])
        return "spelt", _replace(text, found, other)
    if not figures:
        return None
    found = rng.choice(figures)
    return _other_number(text, found, rng)


def _other_number(text: str, found: re.Match[str], rng: random.Random) -> tuple[str, str]:
    word = found.group()
    how = rng.choice(("digit", "tenfold", "next", "turned", "dropped", "sign"))
    if how == "digit":
        place = rng.choice([n for n, c in enumerate(word) if c.isdigit()])
        digit = rng.choice([d for d in "123456789" if d != word[place]])
        return how, _replace(text, found, word[:place] + digit + word[place + 1 :])
    if how == "tenfold":
        return how, _replace(
            text,
            found,
            word.replace(".", "")
            if "." in word and float(word) >= 1
            else word + "0"
            if "." not in word
            else "1" + word,
        )
    if how == "turned" and word[::-1] != word and "." not in word:
        return how, _replace(text, found, word[::-1])
    if how == "dropped" and "." not in word and len(word) > 1:
        return how, _replace(text, found, word[:-1])
    if how == "sign" and text[found.start() - 1] in "−–-" and text[found.start() - 2] in " (":
        return how, text[: found.start() - 1] + text[found.start() :]
    if "." in word:
        return "next", _replace(text, found, word[:-1] + str((int(word[-1]) + rng.choice((1, 2, 3, 4))) % 9 + 1) + "1")
    return "next", _replace(text, found, str(int(word) + rng.choice((1, 2, 5, 7))))


_UNIT_SWAPS = {
    "%": ("kg", "g", "percentage points", "mg"), "kg": ("g", "lb", "mg", "cm"), "g": ("mg", "kg", "ml"),
    "mg": ("g", "µg", "ml"), "weeks": ("months", "days", "years"), "week": ("month", "day", "year"),
    "months": ("weeks", "years", "days"), "month": ("week", "year"), "days": ("weeks", "hours", "months"),
    "day": ("week", "hour", "month"), "years": ("months", "weeks", "decades"), "year": ("month", "week"),
    "hours": ("minutes", "days", "seconds"), "hour": ("minute", "day"), "minutes": ("seconds", "hours"),
    "min": ("s", "h"), "h": ("min", "s", "days"), "s": ("min", "h"), "seconds": ("minutes", "hours"),
    "cm": ("mm", "m", "inches"), "mm": ("cm", "µm"), "kcal": ("kJ", "cal"), "ml": ("l", "dl"),
    "mmol": ("µmol", "mol"), "nm": ("µm", "mm"), "sets": ("repetitions", "sessions"),
    "repetitions": ("sets", "minutes"), "sessions": ("sets", "weeks"), "fold": ("%", "times"), "μm": ("mm", "nm"),
    "mM": ("µM", "nM"), "kDa": ("Da",), "mmHg": ("kPa",),
}  # fmt: skip
_UNIT = re.compile(
    r"(?<=\d)([ -]?)(" + "|".join(sorted(map(re.escape, _UNIT_SWAPS), key=len, reverse=True)) + r")(?![\w])|"
    r"\b(per|a|each) (week|day|month|year|session)\b"
)


def _unit(text: str, rng: random.Random) -> tuple[str, str] | None:
    found = list(_UNIT.finditer(text))
    if not found:
        return None
    one = rng.choice(found)
    if one.group(3):
        other = rng.choice([u for u in ("week", "day", "month", "year", "hour") if u != one.group(4)])
        return "rate", _replace(text, one, f"{one.group(3)} {other}")
    other = rng.choice(_UNIT_SWAPS[one.group(2)])
    return "unit", _replace(text, one, f"{one.group(1)}{other}")


_RANGE = re.compile(r"(?<![\w.])([−-]?\d+(?:\.\d+)?)( ?[–-] ?| to | and )([−-]?\d+(?:\.\d+)?)(?![\w])")
_COMPARATORS = {
    "<": (">", "≥", "="), ">": ("<", "≤", "="), "≤": ("≥", ">"), "≥": ("≤", "<"),
    "at least": ("at most", "exactly", "less than"), "at most": ("at least", "more than"),
    "more than": ("less than", "fewer than", "up to", "exactly"), "less than": ("more than", "at least", "over"),
    "up to": ("at least", "more than"), "over": ("under", "below"), "about": ("more than", "under", "at least"),
    "approximately": ("less than", "over"), "fewer than": ("more than",), "below": ("above",), "above": ("below",),
    "under": ("over",), "longer than": ("shorter than",),
}  # fmt: skip
_COMPARATOR = re.compile(
    r"(?<!\w)("
    + "|".join(sorted(map(re.escape, _COMPARATORS), key=len, reverse=True))
    + r")(?= ?[−-]?\d| (?:one|two|three|four|five|six|ten)\b)",
    re.IGNORECASE,
)


def _range(text: str, rng: random.Random) -> tuple[str, str] | None:
    ranges, comparators = list(_RANGE.finditer(text)), list(_COMPARATOR.finditer(text))
    if comparators and (not ranges or rng.random() < 0.5):
        found = rng.choice(comparators)
        return "comparator", _replace(text, found, rng.choice(_COMPARATORS[found.group(1).lower()]))
    if not ranges:
        return None
    found = rng.choice(ranges)
    low, joint, high = found.groups()
    how = rng.choice(("upper end", "one end", "turned", "moved"))
    if how == "upper end":
        return how, _replace(text, found, f"{low}{joint}{_more(high, rng)}")
    if how == "one end":
        return how, _replace(text, found, rng.choice((low, high)))
    if how == "turned" and low != high:
        return how, _replace(text, found, f"{high}{joint}{low}")
    return "moved", _replace(text, found, f"{_more(low, rng)}{joint}{_more(high, rng)}")


def _more(number: str, rng: random.Random) -> str:
    return (
        number + rng.choice("123456789")
        if "." in number
        else str(int(number.replace("−", "-")) + rng.choice((1, 3, 5)))
    )


# Negations.
_AUXILIARY = re.compile(
    r"\b(is|are|was|were|has|have|had|can|could|may|might|should|will|would|did|does|do)\b(?! not\b| no\b)"
)
_VERBS = re.compile(
    r"\b(increased|decreased|improved|reduced|raised|showed|found|caused|led|produced|affected|changed|"
    r"differed|induced|inhibited|required|gained|regulates?|promotes?|plays?|leads?|shows?|suggests?)\b"
)
_NEGATED: tuple[tuple[str, str, str], ...] = (
    (r"\b(did|does|do) not (\w+)", r"\2", "not taken out"),
    (r"\b(is|are|was|were|has|have|had|can|could|may|might|should|will|would) not\b", r"\1", "not taken out"),
    (r"\bcannot\b", "can", "not taken out"), (r"\bnot ", "", "not taken out"),
    (r"\b[Nn]o (?=\w)", "a ", "no taken out"), (r"\bNo (?=\w)", "Some ", "no taken out"),
    (r"\bwithout\b", "with", "without"), (r"\bnever\b", "always", "never"), (r"\bnone\b", "all", "none"),
    (r"\bneither (\w+) nor\b", r"both \1 and", "neither"), (r"\bnor\b", "and", "nor"),
    (r"\bnon-?(?=\w)", "", "prefix taken out"), (r"\bunchanged\b", "changed", "prefix taken out"),
    (r"\black(?:ed|s|ing)?( of)?\b", "had", "lack"), (r"\bfailed to\b", "managed to", "failed"),
    (r"\babsence\b", "presence", "absence"), (r"\bunable to\b", "able to", "unable"),
    (r"\bfewer? or no\b", "many", "no"),
)  # fmt: skip
_PREFIXED = re.compile(
    r"\b(significant|effective|related|changed|affected|likely|able|sufficient|trained|healthy|dependent|"
    r"important|active|common|clear|stable|specific)\b"
)
_PREFIXES = {
    "significant": "insignificant", "effective": "ineffective", "related": "unrelated", "changed": "unchanged",
    "affected": "unaffected", "likely": "unlikely", "able": "unable", "sufficient": "insufficient",
    "trained": "untrained", "healthy": "unhealthy", "dependent": "independent", "important": "unimportant",
    "active": "inactive", "common": "uncommon", "clear": "unclear", "stable": "unstable", "specific": "nonspecific",
}  # fmt: skip


def _negation(text: str, rng: random.Random) -> tuple[str, str] | None:
    ways: list[tuple[str, str]] = []
    for pattern, by, how in _NEGATED:
        ways += [(how, text[: m.start()] + m.expand(by) + text[m.end() :]) for m in re.finditer(pattern, text)]
    if not ways or rng.random() < 0.4:
        ways += [
            (
                "not put in",
                _replace(text, m, f"{m.group()} {rng.choice(('not', 'not', 'never', 'hardly', 'no longer'))}"),
            )
            for m in _AUXILIARY.finditer(text)
        ]
        ways += [("fails to", _replace(text, m, f"did not {m.group()}")) for m in _VERBS.finditer(text)]
        ways += [("prefix put in", _replace(text, m, _PREFIXES[m.group()])) for m in _PREFIXED.finditer(text)]
        ways += [("with to without", _replace(text, m, "without")) for m in re.finditer(r"\bwith\b", text)]
        ways += [
            ("no put in", f"No evidence showed that {text[0].lower()}{text[1:]}"),
            ("no put in", f"It is not true that {text[0].lower()}{text[1:]}"),
        ]
    return rng.choice(ways)


# Directions.
_OPPOSITES = tuple(
    tuple(pair.split("/"))
    for pair in """
    increase/decrease increases/decreases increased/decreased increasing/decreasing increased/reduced
    increased/lowered rise/fall rose/fell rises/falls rising/falling higher/lower high/low highest/lowest
    greater/smaller greater/lesser larger/smaller largest/smallest improve/worsen improved/worsened improves/impairs
    improved/impaired improvement/deterioration improvements/declines more/less more/fewer most/least gain/loss
    gains/losses gained/lost enhance/impair enhanced/impaired enhances/attenuates enhanced/blunted augment/attenuate
    augmented/attenuated boost/blunt boosted/blunted boosts/blunts upregulated/downregulated
    upregulation/downregulation activation/inhibition activates/inhibits activated/inhibited activate/suppress
    stimulate/inhibit stimulated/suppressed stimulates/suppresses promote/prevent promotes/prevents
    promoted/prevented promoting/inhibiting induces/blocks induced/suppressed induction/suppression
    accelerated/slowed accelerates/slows faster/slower fast/slow longer/shorter long/short stronger/weaker
    strong/weak better/worse best/worst superior/inferior positive/negative positively/negatively beneficial/harmful
    benefit/harm benefits/harms protective/damaging protects/damages heavier/lighter heavy/light elevated/depressed
    elevation/reduction elevates/lowers raised/lowered raises/lowers raise/lower grew/shrank growth/shrinkage
    expansion/contraction expanded/shrunk up/down above/below exceeded/undershot favoured/disfavoured
    favours/opposes favourable/unfavourable advantage/disadvantage safe/dangerous effective/useless early/late
    earlier/later maximum/minimum success/failure support/refute supports/refutes supported/refuted
    gain-of-function/loss-of-function thicker/thinner preserved/destroyed maintained/lost similar/different
    increase/decline increases/declines increased/declined facilitates/hinders facilitated/hindered
    reduction/increase reductions/increases reduce/increase reduces/increases reducing/raising diminished/augmented
    recovered/deteriorated enriched/depleted overexpression/knockdown hyperactive/hypoactive hypertrophy/atrophy
    anabolic/catabolic surplus/deficit amplified/dampened
    """.split()
)
_OPPOSITE: dict[str, list[str]] = {}
for _one, _other in _OPPOSITES:
    _OPPOSITE.setdefault(_one, []).append(_other)
    _OPPOSITE.setdefault(_other, []).append(_one)
_DIRECTED = re.compile(r"\b(" + "|".join(sorted(_OPPOSITE, key=len, reverse=True)) + r")\b", re.IGNORECASE)


def _direction(text: str, rng: random.Random) -> tuple[str, str] | None:
    found = list(_DIRECTED.finditer(text))
    if not found:
        return None
    one = rng.choice(found)
    other = rng.choice(_OPPOSITE[one.group().lower()])
    return f"{one.group().lower()} > {other}", _replace(text, one, other)


# Populations and groups.
_SWAPS = tuple(
    tuple(row.split("/"))
    for row in """
    men/women males/females male/female boys/girls boy/girl children/adults child/adult adolescents/adults
    infants/children older/younger old/young elderly/young trained/untrained athletes/non-athletes athletes/patients
    patients/volunteers patients/athletes healthy/obese healthy/diabetic obese/lean overweight/lean sedentary/active
    inactive/active postmenopausal/premenopausal beginners/experts novices/veterans recreational/competitive
    humans/animals human/murine mice/rats mouse/human rats/monkeys mice/patients people/animals adults/infants
    control/intervention controls/cases placebo/creatine placebo/treatment treated/untreated treatment/control
    intervention/placebo supplement/placebo supplemented/unsupplemented high-load/low-load heavy-load/light-load
    low-volume/high-volume endurance/resistance aerobic/resistance eccentric/concentric periodized/non-periodized
    undulating/linear whey/soy animal/plant soy/milk creatine/caffeine protein/carbohydrate upper/lower
    morning/evening smokers/non-smokers mothers/fathers pregnant/elderly users/nonusers cases/controls
    wild-type/mutant knockout/wild-type transgenic/wild-type European/Asian African/European women/girls men/boys
    women/children adults/teenagers seniors/students hospitalised/community-dwelling hospitalized/community-dwelling
    frail/fit cyclists/runners lifters/swimmers bodybuilders/rowers single-joint/multi-joint squat/bench-press
    biceps/triceps quadriceps/hamstrings arm/leg arms/legs CD4/CD8 breast/prostate liver/kidney neurons/astrocytes
    macrophages/neutrophils HIV/HBV women/veterans residents/visitors exercise/diet exercise/rest vitamin/mineral
    training/stretching drug/surgery tumor/healthy cancer/diabetes
    """.split()
)
_SWAPPED: dict[str, list[str]] = {}
for _one, _other in _SWAPS:
    _SWAPPED.setdefault(_one.lower(), []).append(_other)
    _SWAPPED.setdefault(_other.lower(), []).append(_one)
_NAMED = re.compile(r"\b(" + "|".join(sorted(map(re.escape, _SWAPPED), key=len, reverse=True)) + r")\b", re.IGNORECASE)


def _population(text: str, rng: random.Random) -> tuple[str, str] | None:
    found = list(_NAMED.finditer(text))
    if not found:
        return None
    kinds = {m.group().lower(): m for m in found}
    if len(kinds) > 1 and rng.random() < 0.4:
        first, second = sorted(rng.sample(sorted(kinds.values(), key=lambda m: m.start()), 2), key=lambda m: m.start())
        text = (
            text[: first.start()]
            + second.group()
            + text[first.end() : second.start()]
            + first.group()
            + text[second.end() :]
        )
        return "exchanged", text
    one = rng.choice(found)
    other = rng.choice(_SWAPPED[one.group().lower()])
    return f"{one.group().lower()} > {other}", _replace(text, one, other)


def _bare(word: str) -> str:
    return word.lower().rstrip("s")


_MUTATE: dict[str, Edit] = {
    "number": _number, "unit": _unit, "range": _range, "negation": _negation, "direction": _direction,
    "population": _population,
}  # fmt: skip


def _replace(text: str, found: re.Match[str], by: str) -> str:
    return text[: found.start()] + by + text[found.end() :]


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]

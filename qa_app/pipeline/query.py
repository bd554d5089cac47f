"""Understanding: what a question asks for, by whole words and the concept graph."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import zip_longest

from rapidfuzz import process
from rapidfuzz.distance import OSA

from corpus_app.records import Collection, Concept, Section
from qa_app.pipeline.core import find_core
from qa_app.pipeline.naming import CONDITION, DONE, MEASURED, by_id, find_concepts, find_name_spans, once_for_these
from qa_app.pipeline.population import HAVE_TRAINED, find_numbers, find_population
from qa_app.pipeline.records import Question, Understanding
from qa_app.pipeline.text import EMPTY_WORDS, content_stems, corrected, folded, stem, stems, words

# What people write short and studies spell out.
SPELT_OUT = {
    "rep": "repetition", "reps": "repetitions", "sec": "second", "secs": "seconds", "min": "minute", "mins": "minutes",
    "hrs": "hours", "wk": "week", "wks": "weeks", "yr": "year", "yrs": "years", "lb": "pound", "lbs": "pounds",
    "carb": "carbohydrate", "carbs": "carbohydrates", "cals": "calories", "supps": "supplements", "vit": "vitamin",
    "quad": "quadriceps", "quads": "quadriceps", "hammies": "hamstrings", "glutes": "gluteus", "pecs": "pectoralis",
    "delts": "deltoid", "lats": "latissimus", "bis": "biceps", "tris": "triceps", "kilo": "kilogram", "kilos": "kilograms",
    "vits": "vitamins", "max": "maximum", "avg": "average", "approx": "approximately", "diff": "difference",
}  # fmt: skip
# An amount as people type it, in one word: "5g", "2x", "30secs".
_AMOUNT = re.compile(
    r"(?<![\w.,-])(\d+)(x|k?g|mc?g|gms?|grams?|ml|l|lbs?|kcals?|cals?|cm|ft|secs?|mins?|h|hrs?|hours?|days?|wks?|weeks?|mo|mths?|months?|yo|yrs?|years?|reps?|sets?)(?!\w)"
)
_AMOUNT_SPELT = {"x": "times", "gm": "g", "gms": "g", "h": "hours", "mo": "months", "mth": "months", "mths": "months", "yo": "years old", "lb": "pounds"}  # fmt: skip
OF_WHO_ASKS = frozenset(
    stem(word)
    for word in """dad dads daddy mum mums mummy mom moms mam mother father husband wife hubby gran granny nan grandma grandpa grandad grandmother
    grandfather girlfriend boyfriend sister brother aunt auntie uncle cousin niece nephew neighbour neighbor bloke fella missus client clients
    twenties thirties forties fifties sixties seventies eighties nineties doc docs doctor doctors gp""".split()
)
"""Stems of words for who asks, or for whom: no subject that a passage could hold."""
OF_ASKING = frozenset(
    stem(word)
    for word in """idea ideas sensible sensibly wise wisely unwise silly daft stupid pointless useless scared afraid worried worry true untrue
    sort sorts myth myths proven proved prove proof shown showing legit bother percent percents percentage percentages
    trustworthy reliable convincing credible believable robust conclusive shaky flimsy patchy trust trusted believe
    rise rises rising rose raise raises raised raising boost boosts boosted boosting""".split()
)
"""Stems of words that judge or doubt, ask for a share, or say which way something goes: passages say that in other words."""
# What judges by a turn of phrase; its words are subjects elsewhere ("muscle wasting").
_TURNS = re.compile(
    r"\bwast(?:e|es|ing|ed)(?: of)? (?:my |your |our |their |his |her )?(?:time|money|effort)\b"
    r"|\b(?:colou?r|skew|sway|taint|bias)(?:s|ed|ing)? (?:the|their|its|that|those|your|what) (?:results?|findings?|conclusions?|evidence|judge?ment)\b"
)
# What follows "have trained for".
_TRAINED_FOR = re.compile(rf"\b{HAVE_TRAINED}((?:\w+ )?(?:years?|yrs?|ages))\b")
SHORTEST_CORRECTED = 5  # letters; shorter words have too many neighbours
LONG_WORD = 9  # letters, from which two slips are allowed


@dataclass(frozen=True, slots=True)
class Intent:
    name: str
    expression: re.Pattern[str]
    sections: tuple[Section, ...]


def _words(*forms: str) -> re.Pattern[str]:
    return re.compile(rf"\b(?:{'|'.join(forms)})\b")


_WEAK_POINTS = (
    r"(?:drawbacks?|downsides?|weak (?:points?|spots?|sides?)) (?:of|in|with) (?:(?:the|this|these|those|that|their|its|all) )?(?:\w+ ){0,2}"
    r"(?:research|stud(?:y|ies)|trials?|evidence|reviews?|meta-?analys[ei]s|papers?|data)"
)

_RESEARCH = r"(?:research|stud(?:y|ies)|trials?|evidence|science|reviews?|meta-?analys[ei]s|papers?|data)"
_SOUND = (
    r"(?:good|strong|solid|sound|reliable|trustworthy|robust|certain|sure|convincing|credible|believable|firm|weak|shaky|poor|thin|patchy|flimsy|"
    r"high[- ]quality|low[- ]quality|conclusive|trusted|relied (?:up)?on|up to)"
)
_ENDS_THERE = r"(?= *(?:$|[?.,;:!)]|(?:and|or|enough|at all|really|overall|so far|yet)\b))"
# "How good is the evidence", "is the research on it any good", "can we trust these studies", "how sure are scientists that".
_TRUSTED = (
    rf"how (?:very )?{_SOUND} (?:is|are|was|were) (?:all )?(?:the|this|these|that|those|our|your) (?:\w+ ){{0,2}}?{_RESEARCH}",
    rf"(?:is|are|was|were) (?:all )?(?:the|this|these|that|those) (?:\w+ ){{0,2}}?{_RESEARCH}(?= (?:(?!that|which|who)\w+ ){{0,7}}?(?:any good|{_SOUND}){_ENDS_THERE})",
    rf"(?:trust|believe|rely (?:up)?on) (?:all )?(?:the|this|these|that|those|such) (?:\w+ ){{0,2}}?{_RESEARCH}",
    r"how (?:sure|certain|confident) (?:are|is|can|could|should) (?:we|they|the (?:authors|experts|researchers)|science|scientists|researchers|experts)",
    rf"quality of (?:all )?(?:the|this|these|that|those|such) (?:\w+ ){{0,2}}?{_RESEARCH}",
)

# The seven categories and their sections, in the corpus's own section names; whole words only.
INTENTS = (
    Intent(
        "results",
        _words("results?", "findings?", "found", "performance", "accuracy", "achieved?", "obtain(?:ed)?", "metrics?", "outcomes?"),
        (Section.RESULTS,),
    ),
    Intent(
        "methods",
        _words(
            "methods?", "methodology", "approach(?:es)?", "implement(?:ed)?", "algorithm", "techniques?", "procedures?", "process",
            "(?:study|trial|search|test(?:ing)?|measurement|which|what) protocols?", "protocols? (?:of|did|was|were)", "study design", "who took part", "who was studied", "which (?:people|women|men|participants|trials|studies) were",
            "participants?", "inclusion criteria", "how (?:did they|was (?:it|this) (?:done|measured|tested)|were they (?:measured|tested))",
            r"(?:was|were|is|are|being|they) measured", r"how (?:\w+ ){1,5}measured?", "measurements?", "carried out", "conducted", "was (?:done|run|set up|designed)",
            r"(?:how many|what|which) (?:\w+ )?(?:trials|studies|people|participants|women|men|subjects) (?:were|was|are|did|does|took|had|it|they)", "(?:was|were|are|is) included", "did (?:it|they|the (?:review|study|trial|authors)) include",
        ),
        (Section.METHODS, Section.RESULTS),
    ),
    Intent(
        "background",
        _words(r"what(?: is| are|'?s)(?! wrong)(?! known)(?! the (?:\w+ ){0,2}(?:newest|latest|recent|best|right|ideal|optimal|most|least|minimum|maximum|difference|effects?|impact|influence|risks?|benefits?|evidence|role|dose|amount|number|rate|results?|findings?))", "define", "definition", "meaning", "background", "context", "introduction", "overview"),
        (Section.INTRODUCTION, Section.BACKGROUND, Section.ABSTRACT),
    ),
    Intent("related work", _words("related", "previous", "prior", "existing", "literature", "earlier"), (Section.BACKGROUND, Section.INTRODUCTION)),
    Intent(
        "discussion",
        _words("discuss(?:ed)?", "analy[sz]e", "interpret", "explain(?:ed|s)?", "explanations?", "why", "mechanisms?", "how come", "account for"),
        (Section.DISCUSSION, Section.RESULTS, Section.CONCLUSION),
    ),
    Intent(
        "limitations",
        _words(
            "limitations?", _WEAK_POINTS, *_TRUSTED, "(?<!confidence )(?<!upper )(?<!lower )(?<!time )limits?", "limited", "weakness(?:es)?", "caveats?", "shortcomings?", "what's wrong", "whats wrong", "wrong with",
            "flaws?", "bias(?:es)?", "conflicts? of interest", "open questions?", "fund(?:ing|ed|s|ers?)", "sponsor(?:s|ed|ship)?", "paid for", "who paid", "disclos(?:e|es|ed|ures?)", "industry", "criticisms?", "(?:research|evidence|knowledge) gap", "gaps(?! between)",
            r"gap in (?:the |our )?(?:\w+ )?(?:research|evidence|knowledge|literature|data)",
        ),
        (Section.LIMITATIONS, Section.DISCUSSION, Section.CONCLUSION),
    ),
    Intent("conclusion", _words("conclusions?", "conclude[sd]?", "summary", "summari[sz]e", "contributions?", "future", "bottom line", "take[- ]?away"), (Section.CONCLUSION, Section.DISCUSSION)),
    Intent("data", _words("(?<!pooled )(?<!combined )data", "datasets?", "experiments?", "evaluation", "benchmarks?"), (Section.RESULTS, Section.METHODS)),
    Intent(
        "practice",
        _words("should", "recommend(?:ed|ation|ations)?", "practical", "advice", "advise", "best way", "how do i", "do i (?:need|have) to", "is it (?:worth|better|ok|okay|safe)", "guidelines?"),
        (Section.PRACTICAL_APPLICATIONS, Section.CONCLUSION),
    ),
)  # fmt: skip
_BACKGROUND = _words("define", "definition", "meaning", "background", "context", "introduction", "overview")
_FIGURES = _words(
    "how (?:much|many|often|long|heavy|big|large|far|high|low|quickly|fast)",
    "what (?:dose|amount|percentage|number|size)",
    "effect sizes?",
    "grams?",
    "percent(?:age)?",
    "number of",
    "by how",
)


def understand(
    question: Question,
    *,
    concepts: Sequence[Concept],
    collections: Sequence[Collection],
    vocabulary: Mapping[str, int] | None = None,
    is_word: Callable[[str], bool] | None = None,
    expand_lay_words: bool = False,
    say_in_field_terms: bool = False,
) -> Understanding:
    """What the question asks for; misspellings, and what the corpus calls otherwise, are looked for where a vocabulary is given."""
    typed = folded(question.searched)
    corrections = find_misspellings(typed, vocabulary or {}, concepts, is_word)
    said = corrected(typed, corrections)
    intents = _intents(said)
    sections = tuple(dict.fromkeys(section for intent in intents for section in intent.sections))
    found, terms = find_concepts(said, concepts), content_stems(said)
    named = tuple(concept for concept in found if concept.is_studied)
    turns = (match.group() for match in _TURNS.finditer(said))
    trained_for = (match[1] for match in _TRAINED_FOR.finditer(said))
    no_subject = (OF_WHO_ASKS | OF_ASKING).union(*map(stems, (*turns, *trained_for)))
    rephrased, terms_of_field = in_field_terms(said, found, vocabulary or {}) if say_in_field_terms else ("", ())
    lay = (c.name for c in named if expand_lay_words and not set(words(c.name)) <= set(words(said)))
    for_sections = {term for intent in intents for m in intent.expression.finditer(said) for term in stems(m.group())}
    if for_sections:
        for_sections -= _named_stems(said, named)
    return Understanding(
        intents=tuple(intent.name for intent in intents),
        target_sections=sections,
        concepts=named,
        collection=find_collection(said, named, collections),
        terms=terms,
        core=find_core(question.searched),
        subject=tuple(t for t in terms if not (t.isdigit() or t in for_sections or t in no_subject)),
        asks_for_figures=bool(_FIGURES.search(said)),
        corrections=corrections,
        expansions=tuple(dict.fromkeys((*terms_of_field, *lay))),
        in_field_terms=rephrased,
        population=find_population(said),
        numbers=find_numbers(said),
        measures=_measures(named, concepts),
        unstudied=tuple(concept for concept in found if not concept.is_studied),
    )


def _named_stems(said: str, named: Sequence[Concept]) -> frozenset[str]:
    """Stems of the words by which a question names what it is about, but for how studies are made."""
    spans = find_name_spans(said, named)
    return frozenset().union(
        *(stems(said[start:end]) for start, end, concept in spans if concept.kind in SUBJECT_KINDS)
    )


def _measures(named: Sequence[Concept], concepts: Sequence[Concept]) -> tuple[tuple[str, Concept], ...]:
    outcomes = [concept for concept in named if concept.kind in MEASURED]
    wanted = frozenset().union(*(concept.neighbours for concept in outcomes)) - {c.concept_id for c in named}
    if not wanted:
        return ()
    known = by_id(concepts)
    near = {n: known[n] for n in wanted if n in known and known[n].kind in MEASURED}
    return tuple((o.concept_id, near[n]) for o in outcomes for n in o.neighbours if n in near)


SUBJECT_KINDS = frozenset({*DONE, CONDITION, *MEASURED})
SAID_OTHERWISE = frozenset({*DONE, CONDITION})
"""Kinds of concepts by whose names the corpus is asked, where the question has another word for them: of what came of it the names are
wider than what people call so.
"""
FIELD_WORD_LEADS = 3  # times as often as the question's word the corpus has that of the name
_JOINS_SEVERAL = re.compile(r"\b(?:and|or)\b")


def in_field_terms(
    said: str, concepts: Sequence[Concept], vocabulary: Mapping[str, int]
) -> tuple[str, tuple[str, ...]]:
    """A question with the names of concepts in the place of words that the corpus has much less often ("occlusion training", "cardio"), and
    these names; empty where there are none. An encoder knows how near a question comes, but not what only a field calls so.

    A concept that the question names more than once keeps its words, for they may be two things of one kind ("treadmill or exercise bike");
    so does one whose name joins several ("cancer and its treatment").
    """
    own, rephrased, names_put = frozenset(content_stems(said)), said, []
    spans = find_name_spans(said, concepts)
    often = Counter(concept.concept_id for *_, concept in spans)
    for start, end, concept in reversed(spans):
        is_fit = concept.is_studied and concept.kind in SAID_OTHERWISE and often[concept.concept_id] == 1
        if not is_fit or _JOINS_SEVERAL.search(concept.name) or own.issuperset(content_stems(concept.name)):
            continue
        said_in, named_in = _rarest(said[start:end], vocabulary), _rarest(concept.name, vocabulary)
        if said_in is not None and named_in is not None and FIELD_WORD_LEADS * said_in < named_in:
            rephrased = rephrased[:start] + concept.name + rephrased[end:]
            names_put.append(concept.name)
    return (rephrased, tuple(dict.fromkeys(reversed(names_put)))) if names_put else ("", ())


def _rarest(name: str, vocabulary: Mapping[str, int]) -> int | None:
    """How many passages have the rarest of its words that carry a subject; None without any, and where the vocabulary knows none of the
    kind, as of figures.
    """
    telling = [word for word in words(name) if content_stems(word)]
    if not all(word.isascii() and word.isalpha() for word in telling):
        return None
    return min((vocabulary.get(word, 0) for word in telling), default=None)


def _intents(said: str) -> tuple[Intent, ...]:
    """The categories that a question falls into. "What are the limits of ..." asks for limits, and for no introduction."""
    found = tuple(intent for intent in INTENTS if intent.expression.search(said))
    is_asked_outright = len(found) == 1 or _BACKGROUND.search(said)
    return tuple(intent for intent in found if intent.name != "background" or is_asked_outright)


def find_misspellings(
    said: str,
    vocabulary: Mapping[str, int],
    concepts: Sequence[Concept],
    is_word: Callable[[str], bool] | None = None,
) -> tuple[tuple[str, str], ...]:
    """Words that neither the corpus nor the language knows, each with the field term one slip away (two in a long word), and what is
    written short, spelt out, where the corpus only spells it out.

    Only words of concepts' names that stand in the corpus are suggested, and of concepts that no study is about: everyday words
    have too many neighbours. Short words and numbers are left alone, and so is a word whose first letter would change.
    """
    stems_known, by_first_letter, unstudied = _field_terms(concepts)
    amounts = {match[0]: match for match in _AMOUNT.finditer(said)}
    found = []
    for word in dict.fromkeys(words(said)):
        amount = amounts.get(word)
        if amount and word not in vocabulary:
            found.append((word, f"{amount[1]} {_AMOUNT_SPELT.get(amount[2]) or SPELT_OUT.get(amount[2], amount[2])}"))
            continue
        if SPELT_OUT.get(word) in vocabulary and word not in vocabulary:
            found.append((word, SPELT_OUT[word]))
            continue
        if len(word) < SHORTEST_CORRECTED or not word.isalpha() or word in EMPTY_WORDS:
            continue
        if word in vocabulary or stem(word) in stems_known:
            continue
        near = [t for t in by_first_letter.get(word[0], ()) if t in vocabulary or t in unstudied]
        slips = 1 if len(word) < LONG_WORD else 2
        match = process.extractOne(word, near, scorer=OSA.distance, score_cutoff=slips)
        if match is None:
            continue
        is_another_word = is_word is not None and is_word(word) and _american(word) != _american(match[0])
        if not is_another_word:
            found.append((word, match[0]))
    return tuple(found)


def _american(word: str) -> str:
    """One spelling for the two sides of the Atlantic: anaemia and anemia, fibre and fiber, tumour and tumor."""
    word = word.replace("ae", "e").replace("oe", "e").replace("our", "or").replace("yse", "yze").replace("is", "iz")
    return re.sub(r"tre(s?)$", r"ter\1", re.sub(r"bre(s?)$", r"ber\1", word))


@once_for_these
def _field_terms(
    concepts: tuple[Concept, ...],
) -> tuple[frozenset[str], Mapping[str, Sequence[str]], frozenset[str]]:
    """Stems of all words in concepts' names; by first letter the words that are long enough to be suggested, those that studies are
    about first; and which of them only concepts have that no study is about.
    """
    studied, unstudied = (
        dict.fromkeys(
            word
            for c in concepts
            if c.is_studied is is_studied
            for name in (c.name, *c.aliases)
            for word in words(name)
        )
        for is_studied in (True, False)
    )
    named = studied | unstudied
    by_first_letter: dict[str, list[str]] = {}
    for word in named:
        if len(word) >= SHORTEST_CORRECTED and word not in EMPTY_WORDS:
            by_first_letter.setdefault(word[0], []).append(word)
    return frozenset(map(stem, named)), by_first_letter, frozenset(unstudied) - frozenset(studied)


def find_collection(said: str, named: Sequence[Concept], collections: Sequence[Collection]) -> str | None:
    """The collection that keywords and concepts point at; None where none is clearly ahead."""
    spaced = f" {' '.join(words(said))} "
    points: dict[str, float] = {}
    for slug, keywords in _keywords(tuple(collections)):
        hits = sum(1 for keyword in keywords if keyword in spaced)
        points[slug] = hits + sum(1 / len(c.collections) for c in named if slug in c.collections)
    ranked = sorted(points.items(), key=lambda pair: (-pair[1], pair[0]))
    if not ranked or ranked[0][1] < 1 or (len(ranked) > 1 and ranked[0][1] - ranked[1][1] < 1):
        return None
    return ranked[0][0]


@lru_cache(maxsize=4)
def _keywords(collections: tuple[Collection, ...]) -> tuple[tuple[str, tuple[str, ...]], ...]:
    return tuple((c.slug, tuple(f" {' '.join(words(keyword))} " for keyword in c.keywords)) for c in collections)


def find_linked(
    understanding: Understanding, concepts: Sequence[Concept], *, hub: int, most: int
) -> tuple[Concept, ...]:
    """Neighbours of the concepts named, strongest first, each named concept's in turn; at most `most`.

    A concept with more than `hub` neighbours is one that half of the corpus is about: it is neither left nor reached.
    """
    known = by_id(concepts)
    named = [concept.concept_id for concept in understanding.concepts]
    rows = [
        [known[n] for n in concept.neighbours if n in known and n not in named and len(known[n].neighbours) <= hub]
        for concept in understanding.concepts
        if len(concept.neighbours) <= hub
    ]
    in_turn = (concept for rank in zip_longest(*rows) for concept in rank if concept is not None)
    return tuple({concept.concept_id: concept for concept in in_turn}.values())[:most]

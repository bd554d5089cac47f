"""Words, stems and marks in a text: what several stages need to read alike."""

from __future__ import annotations

import re
import threading
import unicodedata
from array import array
from collections.abc import Sequence
from functools import cache, lru_cache
from itertools import chain

from snowballstemmer import stemmer

WORD = re.compile(r"[^\W_]+(?:['’][^\W_]+)?")

# Words that carry no subject: Postgres's English stop words leave these in, and they would count as missing terms.
EMPTY_WORDS = frozenset(
    """a about above after again all also am an and any anyone are aren as at be because been before being below best better
    between both bit but by can cannot could did didn do does doesn doing don done down during each else enough even ever every
    exactly explain far few find for from further get gets getting give given go going good got had has hasn have having he
    hello help her here hers hey hi him his how i if im in instead into is isn it its itself ive just kind know like long
    look lot lots many matter may maybe me mean might more most much must my myself need needed needs never no nor not
    now of off often ok okay on once one only or other our out over own per please pls possible really rly right said same say
    see shall she should shouldn show since so some someone something still stop such sure take taken tell than thank
    thanks that the their them then there these they thing things think this those though thru to too try up upon us use
    used using very want was wasn way ways we well went were weren what whats when where whether which while who whom whose
    why will with without won work works would wouldn yes yet you your yours actually around based come comes gonna gotta happen
    happens keep let make makes making people person put start supposed truly worth yourself
    till versus vs wanna
    ago ahead almost already although always among another anybody anyhow anything anyway anywhere apart
    aside away became become becomes becoming beside besides beyond certain certainly dear despite due either elsewhere especially
    et etc everybody everyone everything everywhere except fairly folk folks forever former guess hardly heard hence herself
    himself hopefully however indeed lately least less likely mainly meanwhile merely mine mostly
    namely neither nevertheless nobody none nothing nowadays nowhere obviously onto ones others otherwise ought ours ourselves
    perhaps plus presumably pretty probably quite rather regarding seem seemed seems several simply somebody somehow
    sometime sometimes somewhat somewhere soon straightaway theirs themselves therefore throughout thus together told toward
    towards unless until usually various via wants whatever whenever whereas wherever whichever whoever within
    wonder wondering yeah yourselves
    working worked helps helped looks looked looking tries tried trying asks asked saying says tells telling keeps kept
    dont doesnt didnt cant wont isnt arent wasnt werent hasnt havent hadnt couldnt wouldnt shouldnt aint im ive id youre youve youd
    theyre theyve theyll thats wheres whos hows hes shes lets shud cud wud shld wld cld coz cos cuz bc tho u ur r ya w nd n innit
    lol lmao haha hehe omg idk imo imho tbh btw fyi ty thx plz honestly basically literally realistically seriously totally definitely
    absolutely apparently anymore reckon guys mate mates bro dude
    seeing seen thinks thought knows knew known coming came happened happening
    study studies paper papers research evidence author authors literature question answer current latest newest recent""".split()
)

# Words that belong together though their stems differ.
FAMILIES = (
    "able ability", "absorb absorption", "begin began begun beginner", "big bigger biggest", "bite bit bitten", "break broke broken", "breathe breath",
    "build built", "calf calves", "child children", "cycle cyclist", "deep deeper deepest depth", "die death dead", "digest digestion", "dose dosage",
    "drink drank drunk", "eat ate eaten eater", "fall fell fallen faller", "fat fatter fattest", "foot feet", "fracture fractured",
    "grow grew grown growth", "hard harder hardest", "heavy heavier heaviest heavily", "high higher highest", "hold held", "hot hotter heat",
    "hungry hunger", "injure injury", "lean leaner leanest", "lift lifter", "light lighter lightest lightly",
    "lose lost loss", "maintain maintenance", "man men", "move movement", "old older oldest elder elderly", "recover recovery",
    "reduce reduction", "rest restful", "run ran runner", "safe safer safest safety", "short shorter shortest shorten", "sit sat", "sleep slept sleeper",
    "slow slower slowest slowly", "sore sorer soreness", "strong stronger strongest strength strengthen", "swim swam swum swimmer", "thick thicker thickest thickness thicken",
    "thin thinner thinnest", "thirsty thirst", "warm warmer warmth", "weak weaker weakest weakness weaken",
    "velocity speed", "weigh weight", "wide wider widest width widen", "woman women", "young younger youngest youth",
)  # fmt: skip

_OF_THREAD = threading.local()  # a stemmer keeps the word it works on: two threads in one would spoil each other's
_INVISIBLE = re.compile(
    "[\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufe00-\ufe0f\ufeff]"
)
_MAY_COMBINE = re.compile("[\u0300-\U0010ffff]")  # nothing below combines


def clean(text: str) -> str:
    """The text for searching: NFKC, without invisible characters, control characters as spaces, single spaces."""
    visible = _INVISIBLE.sub("", unicodedata.normalize("NFKC", text))
    composed = unicodedata.normalize(
        "NFKC", visible
    )  # an invisible character may have stood between a letter and its accent
    spaced = "".join(" " if unicodedata.category(c) in {"Cc", "Cf", "Co", "Cn"} else c for c in composed)
    return " ".join(spaced.split())


def folded(text: str) -> str:
    """Lower case and without accents, for comparing words."""
    if text.isascii():
        return text.lower()
    decomposed = unicodedata.normalize("NFKD", text)
    return _MAY_COMBINE.sub(_unless_combining, decomposed).lower().replace("’", "'")


def _unless_combining(found: re.Match[str]) -> str:
    return "" if unicodedata.combining(found[0]) else found[0]


@lru_cache(maxsize=50_000)
def stem(word: str) -> str:
    """The Snowball English stem, the one that Postgres's `english` dictionary uses."""
    if not hasattr(_OF_THREAD, "stemmer"):
        _OF_THREAD.stemmer = stemmer("english")
    stemmed: str = _OF_THREAD.stemmer.stemWord(folded(word))
    return stemmed


@cache
def _kin() -> dict[str, frozenset[str]]:
    """Of each stem in a family all stems of it."""
    families = [frozenset(map(stem, family.split())) for family in FAMILIES]
    return {own: family for family in families for own in family}


def with_kin(held: frozenset[str]) -> frozenset[str]:
    """These stems and those of words that belong to theirs: "strength" for "stronger"."""
    kin = _kin()
    return held.union(*(kin[own] for own in held & kin.keys()))


def words(text: str) -> list[str]:
    return WORD.findall(folded(text))


def stems(text: str) -> tuple[str, ...]:
    return tuple(map(stem, words(text)))


@lru_cache(maxsize=16_384)
def stem_set(text: str) -> frozenset[str]:
    """The stems of a text. Kept, because ranking, signals and evidence ask it of the same passages, question after question."""
    return frozenset(stems(text))


def content_words(text: str) -> tuple[str, ...]:
    """Return the words that carry the subject, in order."""
    return tuple(word for word in words(text) if not _is_empty(word) and (len(word) > 1 or word.isdigit()))


def content_stems(text: str) -> tuple[str, ...]:
    """Return the stems of the words that carry the subject, in order, without repeats."""
    return tuple(dict.fromkeys(map(stem, content_words(text))))


def _is_empty(word: str) -> bool:
    """Also "don't", "he'll" and "what's", which are as empty as what stands before or without the apostrophe."""
    return word in EMPTY_WORDS or (
        "'" in word and (word.replace("'", "") in EMPTY_WORDS or word.partition("'")[0] in EMPTY_WORDS)
    )


def highlights(text: str, wanted: frozenset[str]) -> tuple[tuple[int, int], ...]:
    """Where words with one of the wanted stems stand: code points, end exclusive."""
    found, bounds = _placed(text)
    return tuple((bounds[2 * n], bounds[2 * n + 1]) for n, own in enumerate(found) if own in wanted)


@lru_cache(maxsize=1_024)
def _placed(text: str) -> tuple[tuple[str, ...], array[int]]:
    """The stems of a text, and where each begins and ends."""
    matches = list(WORD.finditer(text))
    return tuple(stem(match.group()) for match in matches), array("l", chain.from_iterable(m.span() for m in matches))


def jaccard(first: frozenset[str], second: frozenset[str]) -> float:
    """Shared share of two sets; 1.0 for two empty ones."""
    shared = len(first & second)
    union = len(first) + len(second) - shared
    return shared / union if union else 1.0


def word_count(text: str) -> int:
    return len(text.split())


def corrected(said: str, corrections: Sequence[tuple[str, str]]) -> str:
    """The text with what was misspelt spelt as it was meant."""
    for typed, meant in corrections:
        said = re.sub(rf"\b{re.escape(typed)}\b", meant, said, flags=re.IGNORECASE)
    return said

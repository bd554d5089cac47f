"""Normalise texts and split them into words and stems."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence

from qa_app.lexicon import stemming

WORD = re.compile(r"[^\W_]+(?:['’][^\W_]+)?")

# Words that carry no subject: Postgres's English stop words leave these in, and they would count as missing terms.
EMPTY_WORDS = frozenset(
    """a about above after again all also am an and any anyone are aren as at be because been before being below
    best better between both bit but by can cannot could did didn do does doesn doing don done down during each else
    enough even ever every exactly explain far few find for from further get gets getting give given go going good
    got had has hasn have having he hello help her here hers hey hi him his how i if im in instead into is isn it
    its itself ive just kind know like long look lot lots many matter may maybe me mean might more most much must my
    myself need needed needs never no nor not now of off often ok okay on once one only or other our out over own
    per please pls possible really rly right said same say see shall she should shouldn show since so some someone
    something still stop such sure take taken tell than thank thanks that the their them then there these they thing
    things think this those though thru to too try up upon us use used using very want was wasn way ways we well
    went were weren what whats when where whether which while who whom whose why will with without won work works
    would wouldn yes yet you your yours actually around based come comes gonna gotta happen happens keep let make
    makes making people person put start supposed truly worth yourself till versus vs wanna ago ahead almost already
    although always among another anybody anyhow anything anyway anywhere apart aside away became become becomes
    becoming beside besides beyond certain certainly dear despite due either elsewhere especially et etc everybody
    everyone everything everywhere except fairly folk folks forever former guess hardly heard hence herself himself
    hopefully however indeed lately least less likely mainly meanwhile merely mine mostly namely neither
    nevertheless nobody none nothing nowadays nowhere obviously onto ones others otherwise ought ours ourselves
    perhaps plus presumably pretty probably quite rather regarding seem seemed seems several simply somebody somehow
    sometime sometimes somewhat somewhere soon straightaway theirs themselves therefore throughout thus together
    told toward towards unless until usually various via wants whatever whenever whereas wherever whichever whoever
    within wonder wondering yeah yourselves working worked helps helped looks looked looking tries tried trying asks
    asked saying says tells telling keeps kept dont doesnt didnt cant wont isnt arent wasnt werent hasnt havent
    hadnt couldnt wouldnt shouldnt aint id youre youve youd theyre theyve theyll thats wheres whos hows hes shes
    lets shud cud wud shld wld cld coz cos cuz bc tho u ur r ya w nd n innit lol lmao haha hehe omg idk imo imho tbh
    btw fyi ty thx plz honestly basically literally realistically seriously totally definitely absolutely apparently
    anymore reckon guys mate mates bro dude seeing seen thinks thought knows knew known coming came happened
    happening study studies paper papers research evidence author authors literature question answer current latest
    newest recent""".split()
)

_INVISIBLE = re.compile(
    "[\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f"
    "\u202a-\u202e\u2060-\u206f\ufe00-\ufe0f\ufeff]"
)


MAX_QUESTION_LENGTH = 2_000  # characters


def clean(text: str) -> str:
    """Normalise a text for search: NFKC, without invisible characters, control characters as spaces, single spaces."""
    visible = _INVISIBLE.sub("", unicodedata.normalize("NFKC", text))
    composed = unicodedata.normalize("NFKC", visible)  # again: an invisible character may have parted letter and accent
    spaced = "".join(" " if unicodedata.category(c) in {"Cc", "Cf", "Co", "Cn"} else c for c in composed)
    return " ".join(spaced.split())


def searchable(question: str) -> str:
    """Normalise a question and cut it to the length that is searched: the normal form may be longer."""
    return clean(question)[:MAX_QUESTION_LENGTH]


def folded(text: str) -> str:
    """Lower a text and take the accents off, for comparing words."""
    if text.isascii():
        return text.lower()
    decomposed = unicodedata.normalize("NFKD", text)
    return "".join(c for c in decomposed if not unicodedata.combining(c)).lower().replace("’", "'")


def stem(word: str) -> str:
    """Return the Snowball stem of a word, whatever its case and accents."""
    return stemming.stem(folded(word))


def words(text: str) -> list[str]:
    return WORD.findall(folded(text))


def stems(text: str) -> tuple[str, ...]:
    return tuple(map(stemming.stem, words(text)))


def stem_set(text: str) -> frozenset[str]:
    return frozenset(stems(text))


def content_words(text: str) -> tuple[str, ...]:
    """Return the words that carry the subject, in order."""
    return tuple(word for word in words(text) if not _is_empty(word) and (len(word) > 1 or word.isdigit()))


def content_stems(text: str) -> tuple[str, ...]:
    """Return the stems of the words that carry the subject, in order, without repeats."""
    return tuple(dict.fromkeys(map(stemming.stem, content_words(text))))


def _is_empty(word: str) -> bool:
    """Tell whether a word carries no subject, as "don't" and "he'll" do not either."""
    return not EMPTY_WORDS.isdisjoint((word, word.replace("'", ""), word.partition("'")[0]))


def highlights(text: str, wanted: frozenset[str]) -> tuple[tuple[int, int], ...]:
    """Return the places of words with one of these stems: code points, end exclusive."""
    return tuple(match.span() for match in WORD.finditer(text) if stem(match[0]) in wanted)


def jaccard(first: frozenset[str], second: frozenset[str]) -> float:
    """Return the Jaccard similarity of two sets; 1.0 for two empty ones."""
    union = first | second
    return len(first & second) / len(union) if union else 1.0


def corrected(text: str, corrections: Sequence[tuple[str, str]]) -> str:
    """Return the text with each misspelt word replaced."""
    for typed, meant in corrections:
        text = re.sub(rf"\b{re.escape(typed)}\b", meant, text, flags=re.IGNORECASE)
    return text

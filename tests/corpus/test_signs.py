"""Characters of meaning survive every format: records are generated, encoded as exporters do, and read back."""

import csv
import html
import io
import json
import os
import random
import re
from collections.abc import Callable

import pytest

from corpus_app.sources import formats
from corpus_app.sources.bibliography import Intake
from corpus_app.sources.drafts import StudyDraft
from corpus_app.sources.intake import Source

RECORDS = int(os.environ.get("FUZZED", "360"))
SIGNS = "± − × ÷ ≤ ≥ ≈ < > ½ ° µ α β γ δ Δ κ λ μ π σ τ χ ω · – ≠ → ∞ é ß ø Ł".split()
RAISED = {"²": "2", "³": "3", "⁻¹": "-1", "⁹": "9", "¹⁰": "10", "⁻³": "−3"}
LOWERED = {"₂": "2", "₃": "3"}
LATEX = {
    "±": r"$\pm$", "−": r"{\textminus}", "×": r"{\texttimes}", "÷": r"$\div$", "≤": r"$\leq$", "≥": r"$\geqslant$",
    "≈": r"$\approx$", "<": r"{\textless}", ">": r"$>$", "½": r"{\textonehalf}", "°": r"{\textdegree}",
    "µ": r"{\textmu}", "α": r"$\alpha$", "β": r"{$\beta$}", "γ": r"$\gamma$", "δ": r"$\delta$", "Δ": r"$\Delta$",
    "κ": r"$\kappa$", "λ": r"$\lambda$", "μ": r"$\mu$", "π": r"$\pi$", "σ": r"$\sigma$", "τ": r"$\tau$",
    "χ": r"$\chi$", "ω": r"$\omega$", "·": r"$\cdot$", "–": "--", "≠": r"$\neq$", "→": r"$\rightarrow$",
    "∞": r"$\infty$", "é": r"{\'e}", "ß": r"{\ss}", "ø": r"{\o}", "Ł": r"{\L}", "%": r"\%", "&": r"\&",
}  # fmt: skip


def sentence(rng: random.Random) -> str:
    """Return words, numbers and signs, as results have them."""
    parts = []
    for _ in range(rng.randrange(4, 10)):
        number = f"{rng.randrange(0, 90)}.{rng.randrange(0, 10)}"
        sign = rng.choice(SIGNS)
        unit = rng.choice(["kg/m", "10", "ml·kg", "VO"])
        mark = rng.choice([*RAISED]) if unit != "VO" else rng.choice([*LOWERED])
        parts.append(
            rng.choice([f"it was {number} {sign} {number}", f"from {sign}{number} %", f"by {number} {unit}{mark} more"])
        )
    return "Strength changed: " + " and ".join(parts) + "."


def latex(text: str) -> str:
    return tagged("".join(LATEX.get(char, char) for char in text), "\\textsuperscript{%s}", "\\textsubscript{%s}")


def tagged(text: str, up: str, down: str) -> str:
    """Return the text with raised and lowered runs in mark-up."""
    text = re.sub("|".join(sorted(RAISED, key=len, reverse=True)), lambda match: up % RAISED[match[0]], text)
    return re.sub("|".join(LOWERED), lambda match: down % LOWERED[match[0]], text)


def entities(text: str) -> str:
    """Return HTML with tags and entities, some of them numeric."""
    marked = tagged(text.replace("<", "\0").replace(">", "\1"), "<sup>%s</sup>", "<sub>%s</sub>")
    named = {
        "\0": "&lt;", "\1": "&gt;", "±": "&plusmn;", "−": "&#8722;", "×": "&times;", "≤": "&#x2264;", "β": "&beta;",
    }  # fmt: skip
    return "".join(named.get(char, char) for char in marked)


def xml(text: str, up: str, down: str) -> str:
    return tagged(html.escape(text, quote=False), up, down)


def bibtex(title: str, abstract: str) -> str:
    return f"@article{{k1, author = {{A, B}}, title = {{{latex(title)}}}, year = 2020, abstract = {{{latex(abstract)}}}}}\n"


def ris(title: str, abstract: str) -> str:
    return f"TY  - JOUR\nTI  - {entities(title)}\nPY  - 2020\nAB  - {entities(abstract)}\nER  - \n"


def nbib(title: str, abstract: str) -> str:
    return f"PMID- 1\nTI  - {title}\nDP  - 2020\nAB  - {abstract}\nPT  - Journal Article\n"


def endnote(title: str, abstract: str) -> str:
    def styled(text: str) -> str:
        style = '</style><style face="%s">%%s</style><style face="normal">'
        return f'<style face="normal">{xml(text, style % "superscript", style % "subscript")}</style>'

    return (
        f'<xml><records><record><ref-type name="Journal Article">17</ref-type><titles><title>{styled(title)}</title>'
        f"</titles><dates><year>2020</year></dates><abstract>{styled(abstract)}</abstract></record></records></xml>"
    )


def csl(title: str, abstract: str) -> str:
    abstract = f"<jats:p>{entities(abstract)}</jats:p>"
    return json.dumps([{"type": "article-journal", "title": entities(title), "abstract": abstract}])


def table(title: str, abstract: str) -> str:
    out = io.StringIO()
    csv.writer(out).writerows([["Title", "Year", "Abstract"], [entities(title), "2020", entities(abstract)]])
    return out.getvalue()


def pubmed(title: str, abstract: str) -> str:
    title, abstract = (xml(text, "<sup>%s</sup>", "<sub>%s</sub>") for text in (title, abstract))
    return (
        f"<PubmedArticleSet><PubmedArticle><MedlineCitation><PMID>1</PMID><Article><ArticleTitle>{title}</ArticleTitle>"
        f"<Abstract><AbstractText>{abstract}</AbstractText></Abstract></Article></MedlineCitation></PubmedArticle>"
        "</PubmedArticleSet>"
    )


def jats(title: str, abstract: str) -> str:
    title, abstract = (xml(text, "<sup>%s</sup>", "<sub>%s</sub>") for text in (title, abstract))
    return (
        f"<article><front><article-meta><title-group><article-title>{title}</article-title></title-group>"
        f"<abstract><p>{abstract}</p></abstract></article-meta></front></article>"
    )


def lines(title: str, abstract: str) -> str:
    return json.dumps({"title": entities(title), "abstract": entities(abstract), "year": 2020}) + "\n"


FORMATS: dict[str, Callable[[str, str], str]] = {
    "bibtex": bibtex, "ris": ris, "nbib": nbib, "endnote": endnote, "csl": csl, "csv": table, "pubmed": pubmed,
    "jats": jats, "json": lines,
}  # fmt: skip


def without_blanks(text: str) -> str:
    return re.sub(r"\s", "", text)


@pytest.mark.parametrize("name", FORMATS)
def test_no_sign_and_no_number_is_lost_or_moved(name: str) -> None:
    rng = random.Random(f"{name}{RECORDS}")
    wrong = []
    for _ in range(RECORDS // len(FORMATS)):
        title, abstract = sentence(rng).rstrip("."), sentence(rng)
        written = FORMATS[name](title, abstract)
        items = formats.stream(Source("file", written.encode()), Intake())
        [draft] = [item for item in items if isinstance(item, StudyDraft)]
        read = " ".join(passage.text for passage in draft.passages)
        if without_blanks(draft.title) != without_blanks(title) or without_blanks(read) != without_blanks(abstract):
            wrong.append((title, draft.title, abstract, read))

    assert wrong == []

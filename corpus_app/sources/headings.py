"""Map headings of articles to sections, and recognise parts that are not text of the study."""

from __future__ import annotations

import re
import unicodedata

from corpus_app.records import Section

# Read in this order; the first that stands in the heading wins. Whole words, small letters, numbers in front left out.
_SECTIONS: tuple[tuple[Section, str], ...] = (
    (Section.LIMITATIONS, r"(?:study )?limitations?(?: .+)?|strengths? and (?:limitations?|weaknesses)|weaknesses"
    r"|generali[sz]ability|study limits"),
    (Section.PRACTICAL_APPLICATIONS, r"(?:practical|clinical|policy|training|public health) (?:applications?"
    r"|implications?|recommendations?|relevance|significance)|"
     r"implications? for .+|recommendations?|what (?:this|the) (?:study|paper) adds|take[- ]home .+|key (?:messages?"
     r"|points?)|practice points?|patient summary|what (?:do )?these findings mean"),
    (Section.CONCLUSION, r"conclu\w+|conclud\w+|interpretations?|summary|take-home|(?:final|concluding) remarks"
    r"|outlook|perspectives?|future (?:directions?|work|research)|bottom line|overall evidence"),
    (Section.METHODS, r"(?:materials?|subjects?|patients?|participants?|animals?|experimental|statistical|search"
    r"|data|laboratory|analytical|computational)? ?(?:and|&)? ?"
     r"(?:methods?|methodolog\w+|procedures?|protocols?)(?: and (?:materials?|procedures?|patients|subjects"
     r"|design))?(?: summary)?|methods? (?!and (?:results|findings)).+|(?:study |trial |research |experimental "
     r")?designs?(?: .+)?|"
     r"(?:statistic\w*|data|power) (?:analys[ie]s|methods?|considerations?|evaluation|plan)|statistics|sample "
     r"size(?: .+)?|randomi[sz]ation.*|blinding|masking|"
     r"(?:study )?(?:participants?|patients?|subjects?|populations?|settings?)(?: and .+)?|interventions?"
     r"|eligib\w+.*|(?:inclusion|exclusion)\b.*|recruitment|measure(?:ment|s|ments)|assessments?|"
     r"instruments?|outcome measures?|(?:primary|secondary|main) (?:outcome|end ?point)s?(?: measures?)?|outcomes?"
     r"|materials?|data (?:collection|sources?|extraction|synthesis)|search strategy|study selection|experimental "
     r"(?:section|set-?up)|"
     r"ethics|ethical .+|trial registration number"),
    (Section.RESULTS, r"(?:main |principal |key |primary |secondary |clinical |nonclinical |methods? and "
    r"|methodology and )?(?:results?|findings?)(?: .+)?|outcomes? and estimation|ancillary analys\w+|adverse "
    r"(?:events?|effects?)|safety|efficacy|tolerability|"
     r"participant flow|(?:baseline|patient|participant|demographic) (?:data|characteristics)|numbers analy[sz]ed"
     r"|harms|what did the researchers (?:do and )?find"),
    (Section.DISCUSSION, r"(?:general )?discussions?(?: .+)?|comments?|comparison with (?:prior|previous|other) .+"
    r"|(?:principal|main) findings"),
    (Section.BACKGROUND, r"background(?: .+)?|rationale|context|literature review|related work|theor\w+(?: .+)?"
    r"|previous (?:work|studies)|why was this study done"),
    (Section.INTRODUCTION, r"introduct\w+(?: .+)?|aims?(?: .+)?|objectives?(?: .+)?|purposes?(?: .+)?|hypothes[ei]s"
    r"|research questions?|importance|questions?|goals?"),
    (Section.ABSTRACT, r"abstracts?|(?:structured|plain[- ]language|lay|author|executive|editors?.?) (?:abstract"
    r"|summary)|synopsis|highlights"),
)  # fmt: skip
_PATTERNS = tuple((section, re.compile(pattern)) for section, pattern in _SECTIONS)

# The `sec-type` of JATS; several stand with a bar between, and the first counts.
_TYPES = {
    "intro": Section.INTRODUCTION, "introduction": Section.INTRODUCTION, "objective": Section.INTRODUCTION,
    "background": Section.BACKGROUND, "methods": Section.METHODS, "method": Section.METHODS,
    "materials": Section.METHODS,
    "subjects": Section.METHODS, "materials and methods": Section.METHODS, "results": Section.RESULTS,
    "cases": Section.RESULTS,
    "discussion": Section.DISCUSSION, "conclusions": Section.CONCLUSION, "conclusion": Section.CONCLUSION,
    "limitations": Section.LIMITATIONS,
}  # fmt: skip

_BOILERPLATE = re.compile(
    r"(?:(?:declarations? of )?(?:competing|conflicts?(?: of)?|financial)(?: interests?)?|declarations?|disclosures?"
    r"|funding|financial|acknowledge?ments?|authors?\W{0,2}s?\W? (?:contributions?|information)|contributions?"
    r"|contributors?|"
    r"author (?:information|details|disclosures?)|pre-?publication history|supporting information|supplement\w*"
    r"|additional (?:files?|information|data)|electronic supplement\w*|"
    r"abbreviations?|list of abbreviations|glossary|consent(?: for| to)? .*|ethics approval .*|availability of .*"
    r"|data (?:availability|sharing|access)\b.*|publishers?\W{0,2}s? note|"
    r"references?|bibliography|literature cited|further reading|footnotes?|notes|figures?(?: and tables?)?|tables?"
    r"|appendix.*|appendices|sources? of (?:funding|support)|grant\b.*|"
    r"role of (?:the )?(?:funding source|funder|sponsor)s?|provenance.*|endnotes?|(?:clinical ?trials?(?:\.gov)?"
    r"|trial) (?:identifier|registration).*|transparency.*|peer review.*|reviewer.*|decision letter|author response"
    r"|copyright.*|licen[cs]e|open access|"
    r"contributor information|guarantor|correspondence|about the authors?|authors?|keywords?|disclaimer|trial status"
    r"|dedication|accession (?:numbers?|codes?)|web resources|patents?|credit authorship .*)\W*(?:statement|section)?",
)
_NUMBER = re.compile(
    r"^(?:(?:section|part|chapter)\s+)?(?:[0-9]{1,2}(?:\.[0-9]{1,2})*|[ivx]{1,4}|[a-d])?[.):\s–-]*\s+"
    r"|^[0-9]+(?:\.[0-9]+)*\.?\s*",
    re.IGNORECASE,
)


def section_of(heading: str, kind: str = "") -> Section | None:
    """Return the section for a heading and its `sec-type`; None when neither names one."""
    words = plain_heading(heading)
    for section, pattern in _PATTERNS:
        if pattern.fullmatch(words):
            return section
    for name in kind.lower().split("|"):
        if name.strip() in _TYPES:
            return _TYPES[name.strip()]
    first = re.split(r"\s(?:and|&|/|or)\s|[/:–—-]\s?", words)[0]  # "results and discussion" counts as results
    if first != words:
        return next((section for section, pattern in _PATTERNS if pattern.fullmatch(first)), None)
    return None


def is_paper_section(headings: str) -> bool:
    """Return whether one of the headings above a passage, `Results > Strength`, is that of a section of papers."""
    return any(map(section_of, headings.split(" > ")))


def is_boilerplate(heading: str) -> bool:
    """Return whether a heading introduces boilerplate, such as funding, interests, references or files."""
    return bool(_BOILERPLATE.fullmatch(plain_heading(heading)))


def plain_heading(heading: str) -> str:
    words = " ".join(unicodedata.normalize("NFKC", heading).replace("’", "'").lower().split()).strip(" .:;*")
    return _NUMBER.sub("", words).strip(" .:;*") or words

"""Find reference lists, and instructions to the reader or a language model."""

from __future__ import annotations

import re
from collections.abc import Iterator

from corpus_app.quality.findings import Finding, Kind

# --- Lists of references ----------------------------------------------------------------------------------------------

_PAGES = re.compile(
    r"(?:19|20)\d\d[a-z]?(?:\s[A-Z][a-z]{2}(?:\s\d{1,2})?)?\s?[;:]\s?\d{1,4}\s?"
    r"(?:\([^()]{1,15}\))?\s?[:,]\s?[A-Za-z]?\d+"
    r"|\b\d{1,4}\s?\(\d{1,3}(?:[–-]\d+|\sSuppl\.?(?:\s?\d+)?|\sPt\s\d)?\)\s?[:,]\s?"
    r"(?:pp?\.\s?)?[eES]?\d+\s?[–-]\s?[eES]?\d+"
    r"|,\s\d{1,4},\s(?:pp\.\s)?\d{1,5}[–-]\d{1,5}\b"
    r"|\b\d{1,4}\s?:\s?[eS]?\d{1,5}\s?[–-]\s?[eS]?\d{1,5}\b(?=[.,]?\s?\(?(?:19|20)\d\d|\.)|\bpp?\.\s?\d+[–-]\d+\b"
    r"|\bdoi:?\s?(?:https?://\S+/)?10\.\d{4}"
)  # fmt: skip
_NAMES = re.compile(
    r"(?:\b[A-Z][\w'’-]+,?\s(?:[A-Z]\.?[ -]?){1,3}(?:,|;|\.|\band\b|&)\s?){1,}(?:\bet al\b\.?)?"
    r"|\b[A-Z][\w'’-]+,\s[A-Z]\.(?:\s?[A-Z]\.)*,?\s(?:&|and)\s[A-Z]|\bet al\.?[,:]?\s?(?:\(?(?:19|20)\d\d\)?)?"
)
_YEAR = re.compile(r"\((?:19|20)\d\d[a-z]?\)\.?|\b(?:19|20)\d\d[a-z]?\b")
_HEAD = re.compile(
    r"(?:^|\n|\.\s)(?:References|REFERENCES|Bibliography|BIBLIOGRAPHY|Literature [Cc]ited|Works [Cc]ited|Reference "
    r"[Ll]ist|Further [Rr]eading)\s*(?::|\n|\s(?=(?:\[?1[\].]|[A-Z][\w-]+,? [A-Z])))"
)
_LISTED = re.compile(
    r"(?:^|(?<=\s))\[?\d{1,3}[\].]\s{1,3}[A-Z][\w'’-]+,?\s(?:[A-Z]\.?[- ]?){1,3}(?:,|;|\.|&|and\b|et al)"
)
_NEAR = 320  # characters in which the parts of one reference stand


def references(text: str) -> Iterator[Finding]:
    """Yield reference lists: names, a year and pages close together."""
    spans: list[tuple[int, int]] = [match.span() for match in _HEAD.finditer(text)]
    for match in _PAGES.finditer(text):
        before = text[max(0, match.start() - _NEAR) : match.end() + 20]
        named = _NAMES.search(before)
        if named and _YEAR.search(before):
            spans.append((max(0, match.start() - _NEAR) + named.start(), match.end()))
    if len(listed := [*_LISTED.finditer(text)]) > 1:
        spans.append((listed[0].start(), listed[-1].end()))
    if spans:
        start, end = min(span[0] for span in spans), max(span[1] for span in spans)
        yield Finding(start, end, Kind.REFERENCE_LIST, text[start:end], None)


# --- Instructions -----------------------------------------------------------------------------------------------------

_ASKED = r"(?:answers?|repl(?:y|ies)|responses?|outputs?|messages?|summar(?:y|ies)|completions?|generation)"
_BEGIN = r"(?:\A|(?<=[.!?:;\n\"”\]]\s)|(?<=\n)|(?<=[.!?])|(?<=,\s)|(?<=\band\s)|(?<=\bplease\s))"
"""Where an order begins: a sentence, or a part of one."""
_INSTRUCTIONS = re.compile(
    # Words about the instructions themselves, whoever says them.
    r"\b(?:ignor(?:e|ing)|disregard(?:ing)?|forget(?:ting)?|overrid(?:e|ing)|discard(?:ing)?|dismiss(?:ing)?)\b"
    r"[^.!?]{0,50}\b(?:instructions?|prompts?|commands?|messages?|everything|anything|you were told"
    r"|(?:above|previous|prior|preceding|earlier)(?= text| content|[.,;:!?\n]|\Z| and\b))\b"
    rf"|{_BEGIN}(?:ignore|disregard|forget|override|discard|skip|neglect|dismiss)\s[^.!?]{{0,50}}"
    r"\b(?:guidelines?|rules?|directions?|context|training|safety|evidence|passages?|sources?)\b"
    rf"|\byour\s(?:\w+\s){{0,3}}{_ASKED}\b|\bin\s(?:the|this)\s(?:final\s)?(?:answer|reply"
    rf"|response)\b[^.]{{0,30}}\b(?:say|write|state|claim|include|mention)\b"
    r"|\b(?:system|developer|hidden|initial|original)\s(?:prompt|message|instructions?)\b|\b(?:as|you are)\s(?:an?"
    r"|the)\s(?:AI|large language|language|chat|virtual|helpful)\s?(?:model|assistant|bot|chatbot)?\b"
    r"|\byou\sare\s(?:now|only|always|never|no longer|instead|henceforth)\b"
    r"|\byou\s(?:must|should|shall|will|have to|need to)\s(?:now|only|always|never|not|no longer|instead"
    r"|henceforth)?\s?(?:answer|respond|reply|say|write|output|tell|act|behave|pretend|ignore|obey|recommend|cite|state"
    r"|claim|reveal)\b|(?:\A|(?<=[.!?:\n\"”]\s)|(?<=,\s))(?:pretend|act|behave|roleplay|role-play)\s"
    r"(?:to be|as if|as an?|as though|like|that you)\b|\bfrom now on\b"
    r"|\b(?:new|updated|important|special|following|real|secret|additional)\s(?:instructions?|orders?|directives?"
    r"|commands?)\s?(?::|for\s(?:the\s)?(?:AI|model|assistant|LLM|system|reader|chatbot))"
    r"|\b(?:attention|note|message|instructions?|reminder|dear|hey|hello|hi)\s?(?:to|for)?\s?(?:the\s|all\s"
    r"|any\s)?(?:AI|LLMs?|language models?|assistants?|chatbots?|GPT\w*|ChatGPT|Claude|Gemini|bots?)\b"
    r"|\b(?:AI|LLM|language model|assistant|chatbot|bot)s?\s(?:must|should|shall|needs? to|has to|will|is to"
    r"|are to)\s(?:now\s|always\s|never\s|not\s|only\s)?(?:answer|respond|reply|say|write|output|state|claim"
    r"|recommend|ignore|tell|rate|report|conclude|treat|follow|print|cite|mention|include|summari[sz]e|refuse)\b"
    rf"|{_BEGIN}(?:do not|don't|don’t|never|no longer)\s(?:mention|reveal|tell|cite|quote|disclose|answer|refuse|follow"
    r"|obey|use any other|say|trust|verify|check)\b|\bjailbreak\w*|\bDAN mode\b|\bdeveloper mode\b|\bprompt injection\b"
    r"|<\|[^|<>]{1,40}\|>|\[/?(?:INST|SYS|SYSTEM|USER|ASSISTANT)\]|<</?SYS>>|</?(?:system|assistant|user"
    r"|instructions?|prompt|context|document)>|(?:^|\n|\.\s)\s*#{1,4}\s?(?:instructions?|system|response|human"
    r"|assistant|task)\b|(?:^|\n|[.!?]\s)\s*(?:system|assistant|human|user|AI)\s?:\s"
    r"|(?:\A|(?<=[.!?]\s))(?:(?:can|could|would|will)\syou\b|how\s(?:do|can|would)\s(?:I|you)\b|what['’]s\s)"
    rf"|{_BEGIN}(?:reply|respond|answer|return|output|print|say)\s(?:only|exactly|just|simply|solely|with|in\s(?:JSON"
    r"|French|Spanish|German|one word|capital)|the (?:word|phrase|text|sentence)\b|[\"“'])"
    r"|<script\b|javascript:|\bon(?:error|load|click)\s?=|\bdata:text/html|\bDROP TABLE\b|\bUNION SELECT\b|;\s?--"
    r"|\bOR 1=1\b|\b(?:rm -rf|curl https?:|wget https?:|eval\(|exec\()",
    re.IGNORECASE,
)  # fmt: skip
_VERBS = (
    "write explain describe translate draft compose create develop tell send print output respond reply answer "
    "ignore disregard forget pretend repeat reveal provide give list recommend summari[sz]e add include insert "
    "replace convert substitute render introduce misspell scramble jumble rearrange anagram remove group combine "
    "modify integrate augment enhance show visit click buy download install subscribe contact email run delete "
    "encode decode append prepend begin start end finish conclude claim say mention cite rate treat generate "
    "produce make use never always report rank mark praise promote quote refuse trust return switch set open "
    "fetch search leave sign enter type remember obey"
).split()
_TO_A_MACHINE = re.compile(
    rf"(?:\A|(?<=[.!?\n\"”\]]\s)|(?<=\n)|(?<=[.!?]))(?:please,?\s|kindly\s|now,?\s|then,?\s|instead,?\s|also,?\s"
    rf"|first,?\s|next,?\s|finally,?\s)?(?P<verb>{'|'.join(_VERBS)}|break down|look up)\s(?P<rest>[^.!?\n]{{1,240}})",
    re.IGNORECASE,
)
_ABOUT_TEXT = re.compile(
    r"\b(?:answers?|responses?|repl(?:y|ies)|outputs?|messages?|texts?|sentences?|words?|letters?|vowels|numbers for"
    r"|symbols|spaces|anagrams?|typos|poems?|essay|story|stories|haiku|joke|song|recipe|e-?mail|letter|headline|slogan"
    r"|paragraph|code|function|python|javascript|script|program|website|link|url|http\S*|www\S*|\S+\.com|instructions?"
    r"|prompt|users?|readers?|comments|me|us|yourself|your|you|JSON|French|German|Spanish|English|Chinese|uppercase"
    r"|lowercase|the following|a sentence|theory|process of|history of|capital of|difference between|how to|in simple"
    r" terms|studies|retracted|safe|harmless|proven|all the|every(?:one|body)|as (?:true|fact|correct))\b",
    re.IGNORECASE,
)
"""What orders to a machine ask for: text, an answer, a link; an imperative alone ("Consider a muscle") is prose."""
_ALWAYS = frozenset(
    {"translate", "summarise", "summarize", "misspell", "scramble", "jumble", "pretend", "reveal", "explain"}
)


def instructions(text: str) -> Iterator[Finding]:
    """Yield instructions to a language model; a curator decides whether they belong to the study."""
    for match in _INSTRUCTIONS.finditer(text):
        yield Finding(match.start(), match.end(), Kind.INSTRUCTION, match[0], None)
    for match in _TO_A_MACHINE.finditer(text):
        if match["verb"].lower() in _ALWAYS or _ABOUT_TEXT.search(match["rest"]):
            yield Finding(match.start("verb"), match.end("verb"), Kind.INSTRUCTION, match["verb"], None)

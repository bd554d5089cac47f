"""Check that a page is valid HTML, and for faults that neither a parser nor axe sees."""

from collections import Counter
from collections.abc import Iterator
from xml.etree.ElementTree import Element

import html5lib
from html5lib.constants import E as WORDS

VOID_OF_TEXT = frozenset("ul ol dl table tbody thead tfoot tr select optgroup".split())
PARENTS = {
    "li": {"ul", "ol", "menu"}, "dt": {"dl", "div"}, "dd": {"dl", "div"}, "option": {"select", "optgroup", "datalist"},
    "legend": {"fieldset"}, "summary": {"details"}, "caption": {"table"}, "figcaption": {"figure"},
    "source": {"picture"},
}  # fmt: skip
HELD = {"ul": "li", "ol": "li", "dl": "dt dd div", "select": "option optgroup hr", "tr": "td th"}
CHILDREN = {name: frozenset(f"{held} script template".split()) for name, held in HELD.items()}
HEADINGS = frozenset("h1 h2 h3 h4 h5 h6".split())
PHRASING_ONLY = HEADINGS | frozenset(
    "p span em strong b i small code button label time mark cite summary dt abbr q sub sup del ins legend".split()
)
MAY_HOLD_HEADINGS = frozenset({"summary", "legend"})
FLOW = HEADINGS | frozenset(
    "div p ul ol dl table form section article aside nav header footer main figure fieldset blockquote pre details dialog hr "
    "address".split()
)
TRANSPARENT = frozenset({"a", "ins", "del"})
INTERACTIVE = frozenset("a button input select textarea details label iframe summary".split())
REFERENCES = ("for", "aria-labelledby", "aria-describedby", "aria-controls", "form", "list", "headers", "aria-owns")
OUTDATED = frozenset("center font big strike tt acronym frame frameset marquee nobr dir".split())
OUTDATED_ATTRIBUTES = frozenset(
    "align bgcolor border cellpadding cellspacing valign nowrap onclick onload onchange onsubmit style".split()
)
FOREIGN = "{http://www.w3.org/2000/svg}"


def find_faults(page: str) -> list[str]:
    """What is wrong with a whole page, each with where it is."""
    parser = html5lib.HTMLParser(namespaceHTMLElements=False)
    root = parser.parse(page)
    faults = [f"line {line}: {WORDS[code] % values}" for (line, _), code, values in parser.errors]
    return faults + list(_looked_over(root))


def _looked_over(root: Element) -> Iterator[str]:
    above = {child: parent for parent in root.iter() for child in parent}
    elements = [e for e in root.iter() if isinstance(e.tag, str)]
    ids = Counter(e.get("id") for e in elements if e.get("id") is not None)
    yield from (f"id {name!r} is there {times} times" for name, times in ids.items() if times > 1)
    yield from (f"id {name!r} is empty or holds a space" for name in ids if not name or name.split() != [name])
    hidden = {e.get("id") for e in elements if e.tag == "input" and e.get("type") == "hidden"} - {None}
    if sum(e.tag == "main" for e in elements) > 1 or sum(e.tag == "h1" for e in elements) > 1:
        yield "there is more than one main or h1"
    for element in elements:
        yield from _of_attributes(element, ids)
        if element.tag == "time" and len((element.get("datetime") or "").partition(".")[2].partition("+")[0]) > 3:
            yield f"{_named(element)}: more than three digits of a second"
        if element.tag == "label" and element.get("for") in hidden:
            yield f"{_named(element)} is for the hidden {element.get('for')!r}"
        if not element.tag.startswith("{"):
            yield from _of_place(element, above)


def _of_attributes(element: Element, ids: Counter[str | None]) -> Iterator[str]:
    where = _named(element)
    for name in REFERENCES:
        for target in (element.get(name) or "").split():
            if target not in ids:
                yield f"{where}: {name} names {target!r}, which is not there"
    for name in sorted(OUTDATED_ATTRIBUTES.intersection(element.keys())):
        if not element.tag.startswith(FOREIGN):
            yield f"{where}: {name} does not belong there"
    for name in element.keys():  # noqa: SIM118  # an Element yields its children
        if name.startswith("hx-"):
            yield f"{where}: {name} is no attribute of HTML: data-{name} is"
    if element.tag == "a" and len(element.get("href", "").split()) > 1:
        yield f"{where}: a space in its address"
    if element.tag in {"button", "a"} and element.get("role") == element.tag:
        yield f"{where}: its role says again what it is"


def _of_place(element: Element, above: dict[Element, Element]) -> Iterator[str]:
    where, parent = _named(element), above.get(element)
    if element.tag in OUTDATED:
        yield f"{where} is outdated"
    if parent is None:
        return
    if element.tag in PARENTS and parent.tag not in PARENTS[element.tag] | {"template"}:
        yield f"{where} within {_named(parent)}"
    if parent.tag in CHILDREN and element.tag not in CHILDREN[parent.tag]:
        yield f"{where} within {_named(parent)}"
    if parent.tag in VOID_OF_TEXT and (element.tail or "").strip():
        yield f"text within {_named(parent)}: {(element.tail or '').strip()[:40]!r}"
    holder = parent
    while holder.tag in TRANSPARENT and holder in above:
        holder = above[holder]
    is_allowed_heading = element.tag in HEADINGS and holder.tag in MAY_HOLD_HEADINGS
    if element.tag in FLOW and holder.tag in PHRASING_ONLY and not is_allowed_heading:
        yield f"{where} within {_named(holder)}"
    yield from _of_interaction(element, above)


def _of_interaction(element: Element, above: dict[Element, Element]) -> Iterator[str]:
    if element.tag not in INTERACTIVE or element.get("type") == "hidden":
        return
    holder = above.get(element)
    while holder is not None:
        is_labelled = holder.tag == "label" and element.tag != "label" and element.tag not in {"a", "details"}
        if holder.tag in {"a", "button", "label"} and not is_labelled:
            yield f"{_named(element)} within {_named(holder)}"
        holder = above.get(holder)


def _named(element: Element) -> str:
    tag = element.tag.rpartition("}")[2]
    marks = "".join(f".{name}" for name in (element.get("class") or "").split()[:2])
    return f"<{tag}{'#' + element.get('id', '') if element.get('id') else ''}{marks}>"

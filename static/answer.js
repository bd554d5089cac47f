// What a script adds to an answer: headings sort the table, words are copied with their sources, the page is printed.
// Bound to the document, as answers come and go within the page.
(function () {
  "use strict";

  const byId = (id) => document.getElementById(id);
  const say = (words) => (byId("status").textContent = words);

  function keyOf(row, column) {
    const cell = row.cells[column];
    return cell.dataset.key === undefined ? cell.textContent.trim().toLowerCase() : Number(cell.dataset.key);
  }

  function compare(one, other) {
    if (typeof one === "number") return one - other;
    return one.localeCompare(other, document.documentElement.lang, { numeric: true });
  }

  // What is said of a study once is not said again of its next finding.
  const studyOf = (row) => row.querySelector("th a").href;

  function sort(button) {
    const heading = button.closest("th");
    const body = button.closest("table").tBodies[0];
    const column = heading.cellIndex;
    const falls = heading.getAttribute("aria-sort") === "ascending";
    heading.parentElement.querySelectorAll("[aria-sort]").forEach((other) => other.removeAttribute("aria-sort"));
    heading.setAttribute("aria-sort", falls ? "descending" : "ascending");
    const rows = [...body.rows].sort((a, b) => compare(keyOf(a, column), keyOf(b, column)) * (falls ? -1 : 1));
    body.append(...rows);
    rows.forEach((row, place) => row.classList.toggle("same", place > 0 && studyOf(row) === studyOf(rows[place - 1])));
    const name = button.textContent.toLowerCase();
    say(falls ? told("Sorted by {column}, descending.", { column: name }) : told("Sorted by {column}, ascending.", { column: name }));
  }

  function prepare() {
    document.querySelectorAll("table[data-sorts]").forEach((table) => {
      delete table.dataset.sorts;
      table.classList.add("sortable");
      table.querySelectorAll("thead th").forEach((heading) => {
        const button = document.createElement("button");
        button.type = "button";
        button.textContent = heading.textContent;
        heading.replaceChildren(button);
      });
    });
    document.querySelectorAll("[data-copy-link], [data-copy-answer], [data-copy-from]").forEach((button) => {
      button.hidden = !navigator.clipboard;
    });
    document.querySelectorAll("[data-print]").forEach((button) => {
      button.hidden = false;
    });
  }

  const oneLine = (element) => element.textContent.replace(/\s+/g, " ").trim();

  const all = (selector, within = document) => [...within.querySelectorAll(selector)];

  // What is printed of an element: neither its explanations, nor what is for one reader's eyes only; links by address.
  function wordsOf(element) {
    const copy = element.cloneNode(true);
    all(".meaning, .like-me, .unseen, [aria-hidden]", copy).forEach((part) => part.remove());
    all(".outside", copy).forEach((link) => (link.textContent = link.href));
    all(".chip", copy).forEach((verdict) => verdict.append(":"));
    return oneLine(copy).replaceAll("\u2060", " ").replace(/ +/g, " ");
  }

  // Headings and lines that name a study stand right above what they are of.
  function sectionAsText(section) {
    const blocks = section.matches("section") ? all("h2:not(.unseen), p, li", section) : [section];
    return blocks.map((block) => wordsOf(block) + (block.matches("h2, .from, li") ? "\n" : "\n\n")).join("").trim();
  }

  function sourceAsText(source) {
    const facts = all(".facts span", source).map(wordsOf).join(" · ");
    const lines = all(".study-title, .bibliography, .withdrawn", source).map(wordsOf);
    return `[${source.value}] ${[...lines, facts].filter(Boolean).join("\n    ")}`;
  }

  function filtersAsText() {
    const filters = all(".narrowed li").map(wordsOf);
    return filters.length ? `${oneLine(byId("narrowed-title"))} ${filters.join(", ")}` : "";
  }

  function answerAsText() {
    const outcome = all(".question .outcome .badge").map(wordsOf).join(" · ");
    const missing = all(".question .missing").map(wordsOf);
    const sections = all(".prose > section, .prose > .strength summary, .prose > .whose").map(sectionAsText);
    const sources = all(".sources li").map(sourceAsText);
    const given = byId("cite-line") ? oneLine(byId("cite-line")) : location.href;
    const blocks = [oneLine(byId("question-title")), outcome, ...missing, filtersAsText(), ...sections];
    return [...blocks, [told("Sources"), ...sources].join("\n"), given].filter(Boolean).join("\n\n");
  }

  const SAID_FOR_MS = 2_000; // by a button that was left before the words were copied

  // The button says so until it is left; then it says again what it does.
  function copy(button, text, done = told("Copied"), failed = told("It could not be copied. Select the words and copy them.")) {
    const name = button.dataset.name || button.textContent;
    button.dataset.name = name;
    navigator.clipboard.writeText(text).then(
      () => {
        button.textContent = done;
        say(done);
        const sayNameAgain = () => (button.textContent = name);
        if (document.activeElement === button) button.addEventListener("blur", sayNameAgain, { once: true });
        else setTimeout(sayNameAgain, SAID_FOR_MS);
      },
      () => (byId("trouble").textContent = failed),
    );
  }

  document.addEventListener("click", (event) => {
    const button = event.target.closest("button");
    if (!button) return;
    if (button.matches(".sortable thead button")) sort(button);
    else if (button.matches("[data-copy-link]")) {
      copy(button, location.href, told("Link copied"), told("The link could not be copied. It is in the address bar."));
    } else if (button.matches("[data-copy-answer]")) copy(button, answerAsText());
    else if (button.matches("[data-copy-from]")) copy(button, oneLine(byId(button.dataset.copyFrom)));
    else if (button.matches("[data-print]")) window.print();
  });

  document.addEventListener("htmx:afterSettle", prepare);
  prepare();
})();

// Offers questions while one types in the question box: a list below it, for the keyboard, the pointer and a screen reader.
// The box stays a text box of several lines; where the list cannot be had, nothing is said of it.
(function () {
  "use strict";

  const PAUSE = 150; // milliseconds without a key
  const FEWEST = 3; // letters
  const KINDS = { curated: told("Answered by the studies"), question: told("Answered before"), topic: told("Topic"), study: told("Study") };
  const byId = (id) => document.getElementById(id);
  let box = null; // that the list belongs to
  let active = -1;
  let timer = 0;
  let leaving = null;

  const options = () => [...document.querySelectorAll("#suggestions [role=option]")];

  // A follow-up keeps the subject of its answer: questions that stand alone would not fit.
  const isOurs = (target) => target.id === "question" && target.form && !target.form.elements.parent;

  function stop() {
    clearTimeout(timer);
    if (leaving) leaving.abort();
    leaving = null;
  }

  function close() {
    stop();
    const list = byId("suggestions");
    if (list) {
      list.parentElement.remove();
      byId("status").textContent = "";
    }
    if (box) ["aria-controls", "aria-activedescendant"].forEach((name) => box.removeAttribute(name));
    active = -1;
  }

  async function offer() {
    const mine = (leaving = new AbortController());
    const typed = box.value.trim();
    try {
      const response = await fetch(`/suggest/?q=${encodeURIComponent(typed)}`, { signal: mine.signal });
      const rows = response.ok ? (await response.json()).suggestions : [];
      if (mine === leaving) show(rows.filter((row) => row.question !== typed));
    } catch {
      if (mine === leaving) close();
    }
  }

  function show(rows) {
    close();
    if (!rows.length || document.activeElement !== box) return;
    const place = document.createElement("div");
    const list = document.createElement("ul");
    place.className = "suggestions";
    list.id = "suggestions";
    list.setAttribute("role", "listbox");
    list.setAttribute("aria-label", told("Questions to choose from"));
    rows.forEach((row, number) => list.append(optionOf(row, number)));
    place.append(list);
    box.after(place);
    box.setAttribute("aria-controls", "suggestions");
    byId("status").textContent = rows.length === 1
        ? told("1 question below. Down arrow to choose.")
        : told("{n} questions below. Down arrow to choose.", { n: rows.length });
  }

  function optionOf(row, number) {
    const option = document.createElement("li");
    const kind = document.createElement("small");
    const question = document.createElement("span");
    option.id = `suggestion-${number}`;
    option.dataset.question = row.question;
    option.setAttribute("role", "option");
    option.setAttribute("aria-selected", "false");
    question.textContent = row.question;
    question.dir = "auto";
    kind.textContent = KINDS[row.kind] + (row.also ? `: ${row.also}` : "");
    option.append(question, " ", kind);
    return option;
  }

  function move(step) {
    const all = options();
    // Before the first and after the last one is the box itself.
    active = ((active + 1 + step + all.length + 1) % (all.length + 1)) - 1;
    all.forEach((option, number) => option.setAttribute("aria-selected", String(number === active)));
    if (active < 0) return box.removeAttribute("aria-activedescendant");
    box.setAttribute("aria-activedescendant", all[active].id);
    all[active].scrollIntoView({ block: "nearest" });
  }

  function choose(option) {
    box.value = option.dataset.question;
    close();
    box.focus();
  }

  document.addEventListener("input", (event) => {
    if (!isOurs(event.target)) return;
    box = event.target;
    box.setAttribute("aria-autocomplete", "list");
    box.setAttribute("aria-haspopup", "listbox");
    stop();
    const typed = box.value.trim();
    if (typed.length < FEWEST || typed.includes("\n") || event.isComposing || !navigator.onLine) close();
    else timer = setTimeout(offer, PAUSE);
  });

  const STEPS = { ArrowDown: 1, ArrowUp: -1 };

  // Before the page's own keys: Enter on a question chooses it, and sends nothing.
  window.addEventListener(
    "keydown",
    (event) => {
      const isComposing = event.isComposing || event.keyCode === 229; // as Safari tells of an input method's last key
      if (isComposing || event.target !== box || !byId("suggestions")) return;
      if (event.key in STEPS) move(STEPS[event.key]);
      else if (event.key === "Enter" && active >= 0) choose(options()[active]);
      else if (event.key === "Escape") close();
      else return;
      event.preventDefault();
      event.stopImmediatePropagation();
    },
    true,
  );

  // The box keeps the focus while the pointer is at work in the list.
  document.addEventListener("mousedown", (event) => {
    if (event.target.closest("#suggestions")) event.preventDefault();
  });

  document.addEventListener("click", (event) => {
    const option = event.target.closest("#suggestions [role=option]");
    if (option) choose(option);
  });

  document.addEventListener("focusout", (event) => event.target === box && close());
  window.addEventListener("submit", close, true);
  document.addEventListener("htmx:beforeSwap", close);
})();

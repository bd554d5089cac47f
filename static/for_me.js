// Marks the studies of an answer that are about people like the reader. What the reader chose stays in this browser.
(function () {
  "use strict";

  const STORED = "inform.for-me";

  function chosen() {
    try {
      const kept = JSON.parse(localStorage.getItem(STORED) || "{}");
      return kept && typeof kept === "object" ? kept : {};
    } catch {
      return {}; // a browser that keeps nothing
    }
  }

  function keep(values) {
    try {
      if (Object.keys(values).length) localStorage.setItem(STORED, JSON.stringify(values));
      else localStorage.removeItem(STORED);
    } catch {
      // a browser that keeps nothing
    }
  }

  const selects = (panel) => [...panel.querySelectorAll("select")];

  // What is chosen here, of what this corpus offers.
  const wanted = (panel) => selects(panel).filter(({ value }) => value).map(({ name, value }) => `${name}:${value}`);

  function badge(isMixed) {
    const mark = document.createElement("span");
    mark.className = isMixed ? "badge like-me mixed" : "badge like-me";
    mark.lang = document.documentElement.lang; // the line around it may be in the language of the studies
    mark.textContent = isMixed ? told("People like you among others") : told("About people like you");
    return mark;
  }

  // A study of a value that nobody can choose, such as mixed ages, has people like the reader among others.
  const isMixed = (panel, about) => selects(panel).some(({ name, value, options }) => value && about.some((pair) =>
    pair.startsWith(`${name}:`) && ![...options].some((option) => pair === `${name}:${option.value}`)));

  function mark(panel) {
    const pairs = wanted(panel);
    const about = (element) => element.dataset.about.split(" ");
    const fits = (element) => pairs.length > 0 && pairs.every((pair) => about(element).includes(pair));
    const fitsAmongOthers = (element) => fits(element) && isMixed(panel, about(element));
    document.querySelectorAll(".like-me").forEach((old) => old.remove());
    const marked = [...document.querySelectorAll("[data-about]")];
    marked.filter(fits).forEach((element) =>
      (element.querySelector(".study-title") || element).append(" ", badge(fitsAmongOthers(element))));
    const sources = marked.filter((element) => element.matches("li"));
    const mixed = sources.filter(fitsAmongOthers).length;
    const figures = { n: sources.filter(fits).length - mixed, all: sources.length };
    const counts = [told("About people like you: {n} of the {all} studies cited here.", figures)];
    if (mixed) counts.push(told("With people like you among others: {n}.", { n: mixed }));
    panel.querySelector("[data-like-me-count]").textContent = pairs.length && figures.all ? counts.join(" ") : "";
    panel.querySelector("[data-clear]").hidden = !pairs.length;
  }

  function prepare() {
    const panel = document.querySelector("[data-for-me]");
    if (!panel) return;
    const kept = chosen();
    selects(panel).forEach((select) => {
      const isOffered = [...select.options].some(({ value }) => value === kept[select.name]);
      select.value = isOffered ? kept[select.name] : "";
    });
    panel.hidden = false;
    mark(panel);
  }

  document.addEventListener("change", (event) => {
    const panel = event.target.closest("[data-for-me]");
    if (!panel) return;
    const own = Object.fromEntries(selects(panel).map(({ name, value }) => [name, value]));
    keep(Object.fromEntries(Object.entries({ ...chosen(), ...own }).filter(([, value]) => value)));
    mark(panel);
  });

  document.addEventListener("click", (event) => {
    if (!event.target.closest("[data-for-me] [data-clear]")) return;
    keep({});
    prepare();
    document.querySelector("[data-for-me] select").focus();
  });

  document.addEventListener("htmx:afterSettle", prepare);
  prepare();
})();

// Single keys of the desk, links that open what they lead to, and a warning before typed words are lost.
// The list #keys says what each key does: data-press names what it presses or fills in, data-stops where it
// moves, and data-within the row that is meant, which is the one that had the focus last.
"use strict";

const keys = document.getElementById("keys");
const STORED = "desk-keys";
let place = document.body;

function areOn() {
  try {
    return localStorage.getItem(STORED) !== "off";
  } catch {
    return true;
  }
}

function isTyping(target) {
  return target.isContentEditable || target.matches("textarea, select, [role=combobox], input:not([type=checkbox], [type=submit], [type=button])");
}

// Many keyboards type signs such as ? with AltGr (Control and Alt) or Option (Alt).
function isShortcut({ key, altKey, ctrlKey, metaKey }) {
  return metaKey || (ctrlKey && !altKey) || (altKey && /^[a-z]$/i.test(key));
}

function say(text) {
  keys.querySelector("[role=status]").textContent = text;
}

function press({ within, press: selector }) {
  const scope = within ? place.closest(within) : document;
  const found = scope?.querySelector(selector);
  if (!found) {
    say(scope ? "There is nothing to press here." : "Move to one first.");
    return;
  }
  if (found.matches("textarea, [type=search]")) {
    show(found);
  } else {
    found.click();
    found.matches("summary") && found.focus();
  }
}

// A link of a list of links stands for the part of the page that it leads to.
function target(stop) {
  return (stop.hash && document.getElementById(stop.hash.slice(1))) || stop;
}

function move({ stops: selector, step }) {
  const stops = [...document.querySelectorAll(selector)].map(target).filter((stop) => !stop.closest("[hidden]"));
  if (!stops.length) {
    say("There is none.");
    return;
  }
  const row = "tr, .sentence, .has_original, .findings > li";
  let at = stops.findIndex((stop) => stop.contains(place));
  at = at < 0 ? stops.findIndex((stop) => stop.closest(row)?.contains(place)) : at;
  at = at < 0 ? (step < 0 ? stops.length - 1 : 0) : Math.min(Math.max(at + Number(step), 0), stops.length - 1);
  show(stops[at]);
  say(stops.length > 1 ? `${at + 1} of ${stops.length}` : "");
}

function show(part) {
  for (let around = part; around; around = around.parentElement) {
    if (around.tagName === "DETAILS" && part.tagName !== "SUMMARY") {
      around.open = true;
    }
  }
  part.focus();
  part.scrollIntoView({ block: "nearest" });
}

function openTarget() {
  const part = location.hash && document.getElementById(decodeURIComponent(location.hash.slice(1)));
  if (part) {
    const fold = part.matches(".inline-related") && part.querySelector("details");
    show(fold ? fold.querySelector("textarea") || fold.querySelector("summary") : part);
  }
}

function showSwitch() {
  const button = keys.querySelector("button");
  button.textContent = areOn() ? button.dataset.off : button.dataset.on;
}

function onKey(event) {
  if (event.key === "Escape" && isTyping(event.target)) {
    event.target.blur();
  }
  if (event.repeat || event.defaultPrevented || isShortcut(event) || !areOn() || isTyping(event.target)) {
    return;
  }
  const row = [...keys.querySelectorAll("[data-key]")].find(({ dataset }) => dataset.key === event.key);
  if (row) {
    event.preventDefault();
    (row.dataset.press ? press : move)(row.dataset);
  }
}

function filterRows({ currentTarget: field }) {
  const words = field.value.toLowerCase().split(/\s+/);
  const rows = [...field.closest(".folded").querySelectorAll(".has_original")];
  for (const row of rows) {
    const text = [row.textContent, ...[...row.querySelectorAll("textarea")].map(({ value }) => value)].join(" ").toLowerCase();
    row.hidden = !words.every((word) => text.includes(word));
  }
  document.getElementById("passage-filter-count").textContent = `${rows.filter(({ hidden }) => !hidden).length} of ${rows.length}`;
}

if (keys) {
  keys.hidden = false;
  showSwitch();
  keys.querySelector("button").addEventListener("click", () => {
    try {
      localStorage.setItem(STORED, areOn() ? "off" : "on");
    } catch {
      say("This browser does not keep it.");
    }
    showSwitch();
  });
  document.addEventListener("focusin", (event) => {
    place = event.target;
  });
  document.addEventListener("keydown", onKey);
  window.addEventListener("hashchange", openTarget);
  for (const link of document.querySelectorAll('a[href^="#"]')) {
    link.addEventListener("click", () => link.hash === location.hash && openTarget());
  }
  openTarget();
}

const filter = document.getElementById("passage-filter");
if (filter) {
  filter.parentElement.hidden = false;
  filter.addEventListener("input", filterRows);
  filter.addEventListener("keydown", (event) => event.key === "Enter" && event.preventDefault());
}

const form = document.querySelector("#study_form, #passage_form");
if (form) {
  let isTyped = form.querySelector(".errornote, .proposal") !== null; // shown again, not saved
  form.addEventListener("input", ({ target: { name } }) => {
    isTyped ||= Boolean(name);
  });
  form.addEventListener("submit", () => {
    isTyped = false;
  });
  window.addEventListener("beforeunload", (event) => isTyped && event.preventDefault());
}

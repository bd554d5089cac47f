// What a script adds to pages that work without one: Enter sends, citations open beside the text, links copy, focus follows.
(function () {
  "use strict";

  const byId = (id) => document.getElementById(id);
  const besideText = window.matchMedia("(min-width: 76rem)");
  const isPanelStep = () => Boolean(history.state && history.state.panel);
  let opener = null;
  let isSteppingBack = false;
  let isOutOfDate = false;

  function say(words) {
    byId("status").textContent = words;
  }

  function trouble(words) {
    byId("trouble").textContent = words;
  }

  // A page that is out of date must be loaded again; what was typed comes back with it.
  function keepTyped() {
    const form = byId("ask-form");
    if (!isOutOfDate || !form) return;
    const typed = [...new FormData(form)].filter(([name]) => name !== "csrfmiddlewaretoken");
    try {
      sessionStorage.setItem("typed", JSON.stringify({ path: location.pathname, typed }));
    } catch {
      // a browser that keeps nothing
    }
  }

  function restoreTyped() {
    const form = byId("ask-form");
    let kept = null;
    try {
      kept = JSON.parse(sessionStorage.getItem("typed") || "null");
      sessionStorage.removeItem("typed");
    } catch {
      return; // a browser that keeps nothing
    }
    if (!kept || kept.path !== location.pathname || !form) return;
    kept.typed.forEach(([name, value]) => {
      if (form.elements[name]) form.elements[name].value = value;
    });
    form.elements.question.focus();
  }

  function openPanel() {
    const panel = byId("panel");
    if (!panel.open) {
      if (besideText.matches) {
        panel.show();
      } else {
        // A step of its own in the history: Back closes what covers the page, and stays with the answer.
        panel.showModal();
        if (!isPanelStep()) history.pushState({ panel: true }, "");
      }
    }
    panel.scrollTop = 0;
    byId("panel-title").focus();
  }

  function leavePanelStep() {
    if (!isPanelStep()) return;
    isSteppingBack = true;
    history.back();
  }

  // Before htmx sees it, which would load the page again.
  window.addEventListener("popstate", (event) => {
    const panel = byId("panel");
    const isOurs = isSteppingBack;
    isSteppingBack = false;
    if (isPanelStep()) {
      if (panel && byId("panel-title")) openPanel();
      else leavePanelStep();
    } else if (panel && panel.matches(":modal")) {
      panel.close();
    } else if (!isOurs) {
      return;
    }
    event.stopImmediatePropagation();
  });

  function mark(marker) {
    document.querySelectorAll(".cite[aria-current], .mark[aria-current]").forEach((old) => old.removeAttribute("aria-current"));
    opener = marker;
    if (marker) marker.setAttribute("aria-current", "true");
  }

  // The header stays when the page below it becomes another.
  document.addEventListener("htmx:pushedIntoHistory", () => {
    document.querySelectorAll(".site-header [aria-current]").forEach((link) => {
      if (link.pathname !== location.pathname) link.removeAttribute("aria-current");
    });
  });

  // Tab goes round in the open panel, also where the page beside it can be clicked; Escape or its button leaves it.
  function stayInside(event, panel) {
    const stops = [...panel.querySelectorAll("a[href], button, summary")].filter((stop) => stop.getClientRects().length);
    const [edge, next] = event.shiftKey ? [stops[0], stops.at(-1)] : [stops.at(-1), stops[0]];
    if (document.activeElement !== edge) return;
    event.preventDefault();
    next.focus();
  }

  // Keys that an input method takes for itself; Safari tells of its last one only by the number.
  const isComposing = (event) => event.isComposing || event.keyCode === 229;

  document.addEventListener("keydown", (event) => {
    if (isComposing(event)) return;
    if (event.key === "Enter" && !event.shiftKey && event.target.matches("[data-enter-sends]")) {
      event.preventDefault();
      if (!event.repeat) event.target.form.requestSubmit(event.target.form.querySelector(".send"));
    }
    const panel = byId("panel");
    const isForPanel = panel && panel.open && !document.querySelector(":popover-open"); // one thing at a time
    if (event.key === "Escape" && isForPanel) panel.close();
    if (event.key === "Tab" && isForPanel && panel.contains(document.activeElement)) stayInside(event, panel);
  });

  document.addEventListener("click", (event) => {
    const panel = byId("panel");
    if (panel && event.target === panel && panel.matches(":modal")) {
      const box = panel.getBoundingClientRect();
      if (event.clientY < box.top) panel.close();
    }
  });

  document.addEventListener(
    "close",
    (event) => {
      if (event.target.id !== "panel") return;
      leavePanelStep();
      if (!opener) return;
      const marker = opener;
      mark(null);
      marker.focus();
    },
    true,
  );

  const isOwnPart = (event) => ["feedback", "follow-question"].includes(event.detail.target.id);

  document.addEventListener("htmx:beforeRequest", (event) => {
    trouble("");
    isOutOfDate = false;
    if (event.detail.elt.matches("form")) say(isOwnPart(event) ? told("Sending…") : told("Searching the studies…"));
  });

  document.addEventListener("htmx:afterSettle", (event) => {
    if (event.detail.target.id === "panel-body") {
      mark(event.detail.requestConfig.elt);
      openPanel();
      return;
    }
    if (isOwnPart(event)) {
      const part = byId(event.detail.target.id);
      say("");
      (part.querySelector("[aria-invalid]") || part.querySelector("h2")).focus();
      return;
    }
    if (event.detail.target.matches("li")) return; // a claim that was checked
    const invalid = document.querySelector(".ask [aria-invalid]");
    const title = byId("question-title") || byId("compared-title") || byId("claims-title");
    const outcome = document.querySelector(".question .outcome .badge");
    say(title && outcome ? outcome.textContent : "");
    if (invalid) invalid.focus();
    else if (title) title.focus({ preventScroll: true });
  });

  function reasonOf(event) {
    if (event.type === "htmx:responseError") return told("Something went wrong on our side.");
    if (event.type === "htmx:timeout") return told("It took too long.");
    return navigator.onLine ? told("The site cannot be reached.") : told("You are offline.");
  }

  function failed(event) {
    const { elt, xhr, requestConfig } = event.detail;
    const isReached = event.type === "htmx:responseError";
    if (elt.matches("[data-settle]")) return; // what was shown meanwhile stays, and is asked for again
    const sender = requestConfig.triggeringEvent && requestConfig.triggeringEvent.submitter;
    const isTyped = elt.id === "ask-form" && !(sender && sender.name === "example");
    say("");
    if (elt.matches("a[href]")) {
      if (isReached) location.assign(elt.href);
      else trouble(told("Source {number} could not be opened. {reason} Please try again in a moment.", { number: elt.textContent, reason: reasonOf(event) }));
    } else if (isReached && xhr.status === 403) {
      const promise = isTyped ? told("Reload it: your question stays in the box.") : told("Reload it and try again.");
      isOutOfDate = true;
      trouble(told("This page is out of date. {promise} If that does not help, allow cookies from this site.", { promise }));
      offerReload();
    } else {
      const advice = isTyped
        ? told("Your question is still in the box: please try again in a moment.")
        : told("Please try again in a moment.");
      const what = isFeedback(event) ? told("Your feedback could not be sent.") : told("The answer could not be fetched.");
      trouble(`${what} ${reasonOf(event)} ${advice}`);
    }
  }

  function offerReload() {
    const button = document.createElement("button");
    button.type = "button";
    button.className = "small";
    button.textContent = told("Reload");
    button.addEventListener("click", () => location.reload());
    byId("trouble").append(button);
  }

  document.addEventListener("htmx:responseError", failed);
  document.addEventListener("htmx:sendError", failed);
  document.addEventListener("htmx:timeout", failed);

  // No copy of the site is kept on the device: an answer read later could have lost its sources. What is open stays readable.
  window.addEventListener("offline", () => {
    trouble(told("You are offline. What is on this page can still be read; questions and sources can be opened when you are back."));
  });
  window.addEventListener("online", () => {
    trouble("");
    say(told("You are online again."));
  });

  const addressOf = (link) => new URL(link.getAttribute("href"), location.href).href; // links of pictures have no plain href
  const linksTo = (address) => [...document.querySelectorAll("main a[href]")].filter((link) => addressOf(link) === address);

  // Which link led away from this page, or opened the panel whose link did: Back returns to it.
  document.addEventListener("click", (event) => {
    const followed = event.target.closest("main a[href]");
    if (!followed || event.defaultPrevented) return;
    const left = followed.closest("#panel") ? opener : followed;
    if (!left || !left.hasAttribute("href")) return;
    const address = addressOf(left);
    history.replaceState({ ...history.state, left: { address, place: linksTo(address).indexOf(left) } }, "");
  });

  function focusLeftLink() {
    const left = history.state && history.state.left;
    const link = left && linksTo(left.address)[left.place];
    if (link) link.focus();
  }

  // An answer that a page of this site led to, or that one comes back to, is read from its heading, as a new one is.
  function focusTitle() {
    const title = byId("question-title") || byId("compared-title");
    const [visit] = performance.getEntriesByType("navigation");
    const isBack = visit && visit.type === "back_forward";
    const isFromHere = visit && visit.type === "navigate" && document.referrer.startsWith(`${location.origin}/`);
    const isFree = () => document.activeElement === document.body;
    if (isBack && isFree()) focusLeftLink();
    if (title && !location.hash && isFree() && (isBack || isFromHere)) title.focus({ preventScroll: true });
  }

  window.addEventListener("pagehide", keepTyped);

  restoreTyped();
  leavePanelStep();
  focusTitle();
})();

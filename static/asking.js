// Shows an answer while it is made: stages as they finish, sentences as they are verified; then the answer's own page.
(function () {
  "use strict";

  const byId = (id) => document.getElementById(id);
  const TRIES = 5;
  const PAUSE = 600; // milliseconds before the line is taken up again, and as much longer each time
  const SILENCE = 30000; // milliseconds without a sign of life, of which there is one every ten seconds
  const LONGEST_THREAD = 8; // answers before a follow-up, as the server shows them
  const TOGETHER = new RegExp(
    [
      "(?<![\\p{L}\\p{N}_])(?:\\p{L}{1,6} [=≤≥<>] [−–-]?\\d+(?:[.,]\\d+)*%?", // P = 0.074, n < 20
      "\\d\\d ?% Cr?I(?![\\p{L}\\p{N}_])", // 95% CI
      "(?:\\d+(?:[.,]\\d+)*[–-])?\\d+(?:[.,]\\d+)* (?:k?g|mg|µg|ng|m?[lL]|[cmk]m|k?cal|[kM]J|min|h|s|RM|IU|mmHg|[mn]mol|%)" +
        "(?:/[\\p{L}\\p{N}_]+)*(?![\\p{L}\\p{N}_]))", // 1.6 g/kg/day, 2–3 RM
    ].join("|"),
    "gu",
  ); // the same as `corpus_words.TOGETHER`
  let asked = null; // the question under way

  function say(words) {
    byId("status").textContent = words;
  }

  function trouble(words) {
    byId("trouble").textContent = words;
  }

  document.addEventListener(
    "submit",
    (event) => {
      const form = event.target;
      if (!form.matches("[data-streams]") || form.dataset.plain || !window.ReadableStream || !byId("making")) return;
      event.preventDefault();
      event.stopImmediatePropagation();
      if (!asked) ask(form, event.submitter);
    },
    true,
  );

  document.addEventListener("click", (event) => {
    if (asked && event.target.closest("[data-stop]")) giveUp(`${told("Stopped.")} ${kept()}`);
  });

  // A browser may keep the page to come back to: as it was before it was left.
  window.addEventListener("pagehide", () => asked && stop());

  async function ask(form, sender) {
    const body = bodyOf(form, sender);
    if (!body.question.trim()) return askPlainly(form, sender);
    asked = { form, sender, lastId: "", told: [], held: [] };
    asked.parts = byId("making-parts").content; // its page may be put away
    buttonOf(form).disabled = true;
    const mine = asked;
    trouble("");
    say(told("Searching the studies…"));
    form.classList.add("htmx-request");
    let waited = 0;
    while (asked === mine) {
      mine.leaving = new AbortController();
      try {
        const response = await send(body, mine);
        if (mine.lastId && response.status > 501) throw new Error("The server is away.");
        if (!response.ok) return await refused(response, mine);
        await listen(response, mine);
        return;
      } catch (error) {
        if (asked !== mine) return;
        if (error.isOurs) {
          giveUp(`${told("The answer could not be shown.")} ${again()}`);
          throw error;
        }
        waited += 1;
        if (!mine.lastId || waited > TRIES) {
          giveUp(unreachable(mine));
          return;
        }
        await pause(waited);
      }
    }
  }

  function pause(waited) {
    say(told("The connection was lost. Trying again…"));
    return new Promise((resolve) => setTimeout(resolve, PAUSE * waited));
  }

  // The first one: that of the box, where examples follow.
  const buttonOf = (form) => form.querySelector("[type=submit]");

  function bodyOf(form, sender) {
    const typed = new FormData(form, sender || undefined);
    const body = { question: String(typed.get("example") || typed.get("question") || "").replace(/\r\n/g, "\n") };
    ["mode", "collection", "parent"].forEach((name) => {
      if (typed.get(name)) body[name] = String(typed.get(name));
    });
    if (typed.get("filters")) body.filters = JSON.parse(typed.get("filters"));
    return body;
  }

  // A line that is silent for too long is taken for broken.
  function stayAwake(mine) {
    clearTimeout(mine.patience);
    mine.patience = setTimeout(() => mine.leaving.abort(), SILENCE);
  }

  function send(body, mine) {
    stayAwake(mine);
    const headers = { "Content-Type": "application/json", Accept: "text/event-stream" };
    if (mine.lastId) headers["Last-Event-ID"] = mine.lastId;
    return fetch("/api/v1/answers/stream", {
      method: "POST",
      headers,
      body: JSON.stringify(body),
      credentials: "same-origin",
      signal: mine.leaving.signal,
    });
  }

  // The server's own words stand in its form: what it cannot take is sent to it as a form.
  function askPlainly(form, sender) {
    form.dataset.plain = "yes";
    form.requestSubmit(sender || buttonOf(form));
    delete form.dataset.plain;
  }

  async function refused(response, mine) {
    const { form, sender } = mine;
    if (response.status === 400) {
      putBack(mine);
      askPlainly(form, sender);
      return;
    }
    const seconds = Number(response.headers.get("Retry-After")) || 0;
    if (response.status === 429) giveUp(`${reasonOf(429)} ${again(seconds)}`);
    else if (response.status === 503) giveUp(`${told("Many answers are being made at this moment.")} ${again(seconds)}`);
    else giveUp(`${told("The answer could not be fetched.")} ${reasonOf(response.status)} ${again()}`);
  }

  function isTyped() {
    const { form, sender } = asked;
    return form.elements.question.type !== "hidden" && !(sender && sender.name === "example");
  }

  const kept = () => (isTyped() ? told("Your question is still in the box.") : "");

  function again(seconds = 0) {
    if (seconds > 90) {
      return isTyped()
        ? told("Your question is still in the box: please try again in a while.")
        : told("Please try again in a while.");
    }
    if (seconds) {
      return isTyped()
        ? told("Your question is still in the box: please try again in {seconds} seconds.", { seconds })
        : told("Please try again in {seconds} seconds.", { seconds });
    }
    return isTyped()
      ? told("Your question is still in the box: please try again in a moment.")
      : told("Please try again in a moment.");
  }

  function reasonOf(status) {
    return status === 429 ? told("Many questions have come from here in a short time.") : told("Something went wrong on our side.");
  }

  function unreachable(mine) {
    const late = mine.leaving.signal.aborted ? told("It took too long.") : told("The site cannot be reached.");
    const reason = navigator.onLine ? late : told("You are offline.");
    return `${told("The answer could not be fetched.")} ${reason} ${again()}`;
  }

  async function listen(response, mine) {
    const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
    let rest = "";
    for (;;) {
      const { value, done } = await reader.read();
      if (asked !== mine) return;
      stayAwake(mine);
      if (done) throw new Error("The stream ended before the answer.");
      const pieces = (rest + value).split("\n\n");
      rest = pieces.pop();
      for (const piece of pieces) {
        if (piece.startsWith(":")) continue;
        try {
          if (take(read(piece), mine)) return;
        } catch (error) {
          error.isOurs = true; // no line to be taken up again
          throw error;
        }
      }
    }
  }

  function read(piece) {
    const event = {};
    piece.split("\n").forEach((line) => {
      const place = line.indexOf(": ");
      event[line.slice(0, place)] = line.slice(place + 2);
    });
    return { name: event.event, id: event.id, data: JSON.parse(event.data) };
  }

  // True after the last event.
  function take(event, mine) {
    if (mine.lastId && mine.lastId.split(".")[0] !== event.id.split(".")[0]) startAnew(mine);
    mine.lastId = event.id;
    if (event.name === "stage") finished(event.data.name);
    else if (event.name === "retrieval") found(event.data, mine);
    else if (event.name === "headline") showHeadline(event.data, mine);
    else if (event.name === "sentence") tell(event.data, mine);
    else if (event.name === "error") giveUp(`${told("The answer could not be fetched.")} ${reasonOf(event.data.status)} ${again()}`);
    else if (event.name === "done") settle(event.data, mine);
    return event.name === "error" || event.name === "done";
  }

  // --- The page meanwhile ---------------------------------------------------------------------------------------------

  // The form's page is kept as it is, to come back where there is no answer.
  function lay(mine) {
    const main = byId("content");
    const page = byId("making").content.cloneNode(true);
    const typed = bodyOf(mine.form, mine.sender);
    const mode = typed.mode || "beginner";
    const names = [mode === "beginner" ? told("Beginner") : told("Intermediate")];
    const collection = [...byId("ask-form").querySelectorAll("#collection option")].find(({ value }) => value === typed.collection);
    if (typed.collection && collection) names.push(collection.textContent);
    const thread = threadTo(typed.parent);
    mine.before = { nodes: [...main.childNodes], top: window.scrollY, title: document.title, focused: document.activeElement };
    page.querySelector(".eyebrow").textContent = names.join(" · ");
    const title = document.createElement("h1"); // here and not in the template: a page has one
    Object.assign(title, { id: "question-title", tabIndex: -1, dir: "auto" });
    page.querySelector("[data-title]").replaceWith(title);
    title.textContent = typed.question.trim();
    title.classList.toggle("long", title.textContent.length > 160);
    if (mine.form.dataset.since) page.querySelector("[data-asked-again]").hidden = false;
    page.querySelector(".thread").hidden = !thread.length;
    page.querySelector("[data-steps]").replaceChildren(...thread);
    main.replaceChildren(page);
    window.scrollTo(0, 0);
    if (thread.length) title.scrollIntoView();
    title.focus({ preventScroll: true });
  }

  // The answers that lead to a follow-up, the first one first: those above, and the one on this page.
  function threadTo(parent) {
    const steps = [...document.querySelectorAll(".thread li")].map((step) => step.cloneNode(true));
    if (byId("question-title")) steps.push(stepHere());
    const last = steps.findIndex((step) => parent && step.querySelector("a").href.endsWith(`/${parent}/`));
    return steps.slice(0, last + 1).slice(-LONGEST_THREAD);
  }

  // The answer on this page as a step: its question and its headline, or how it ended.
  function stepHere() {
    const step = document.createElement("li");
    const link = document.createElement("a");
    const line = document.createElement("p");
    Object.assign(link, { className: "asked", href: location.pathname, dir: "auto" });
    link.textContent = byId("question-title").textContent;
    const opening = document.querySelector(".prose .headline p") || document.querySelector(".outcome .badge");
    if (opening) line.append(...[...opening.cloneNode(true).childNodes]);
    line.querySelectorAll(".meaning, .who").forEach((aside) => aside.remove());
    line.querySelectorAll(".term").forEach((term) => term.replaceWith(term.textContent));
    line.querySelectorAll("[id]").forEach((named) => named.removeAttribute("id"));
    step.append(link, line);
    return step;
  }

  function understood(data) {
    const shown = document.querySelector(".making .understood");
    shown.hidden = !data.understood_as;
    const [subject, meant] = ["[data-subject]", "[data-meant]"].map((name) => shown.querySelector(name));
    subject.hidden = !data.subject;
    meant.hidden = Boolean(data.subject);
    subject.querySelector("strong").textContent = data.subject;
    meant.querySelector("strong").textContent = data.understood_as;
  }

  function startAnew(mine) {
    mine.told = [];
    mine.held = [];
    mine.opening = "";
    document.querySelectorAll(".making .prose > section").forEach((section) => section.remove());
  }

  function finished(stage) {
    document.querySelectorAll(`.stages [data-stage~="${stage}"]`).forEach((step) => step.classList.add("done"));
  }

  function found(data, mine) {
    if (!mine.before) lay(mine);
    ["understand", "rank"].forEach(finished);
    understood(data);
    const also = document.querySelector(".making [data-also]");
    also.textContent = data.also_searched.length ? `${told("Also searched for:")} ${data.also_searched.map(nameOf).join(", ")}` : "";
    also.hidden = !data.also_searched.length;
    say(told("{n} passages found.", { n: data.evidence.length }));
  }

  const nameOf = (term) => term.replace(/-/g, " ");

  // An answer that only says the summary again is not shown beside it: what it has in common waits for what it adds.
  function tell(sentence, mine) {
    if (!mine.before) lay(mine);
    if (sentence.part === "summary") {
      mine.told.push(sentence.text);
      if (sentence.text !== mine.opening) append(sentence, mine); // the headline is not said again
      return;
    }
    mine.held.push(sentence);
    if (mine.held.every((row) => mine.told.includes(row.text)) && mine.told.length) return;
    mine.held.forEach((row) => append(row, mine));
    mine.held = [];
    mine.told = [];
  }

  // A figure stays on one line with its sign or its unit, as on the answer's own page: no line breaks otherwise then.
  function unbroken(text) {
    const pieces = [];
    let end = 0;
    for (const found of text.matchAll(TOGETHER)) {
      const kept = document.createElement("span");
      kept.className = "as-one";
      kept.textContent = found[0];
      pieces.push(text.slice(end, found.index), kept);
      end = found.index + found[0].length;
    }
    return [...pieces, text.slice(end)];
  }

  function sectionOf(part, mine) {
    const prose = document.querySelector(".making .prose");
    let section = prose.querySelector(`.${part}`);
    if (!section) {
      section = mine.parts.querySelector(`.${part}`).cloneNode(true);
      prose.append(section);
    }
    return section;
  }

  // The answer in one line: its verdict, its words, and how many studies found what.
  function showHeadline(headline, mine) {
    if (!mine.before) lay(mine);
    const section = sectionOf("headline", mine);
    mine.opening = headline.text;
    const paragraph = section.querySelector("p");
    paragraph.querySelectorAll("[data-verdict]").forEach((verdict) => {
      if (verdict.dataset.verdict !== headline.verdict) verdict.remove();
    });
    paragraph.append(paragraph.hasChildNodes() ? " " : "", spoken(headline));
    const counts = countsOf(headline);
    if (!counts) return;
    const line = document.createElement("p");
    line.className = "counts";
    line.textContent = counts;
    section.append(line);
  }

  function countsOf(headline) {
    const { studies_for: good = 0, studies_without_difference: same = 0, studies_against: bad = 0 } = headline;
    const n = good + same + bad;
    if (n < 2) return "";
    const found = [];
    if (good) found.push(told("{n} found a benefit", { n: good }));
    if (same) found.push(told("{n} found no clear difference", { n: same }));
    if (bad) found.push(told("{n} found a disadvantage", { n: bad }));
    return `${told("Of {n} studies:", { n })} ${found.join(", ")}`;
  }

  function append(sentence, mine) {
    const section = sectionOf(sentence.part, mine);
    let paragraph = section.querySelector(`[data-paragraph="${sentence.paragraph}"]`);
    if (!paragraph) {
      paragraph = document.createElement("p");
      paragraph.dataset.paragraph = sentence.paragraph;
      section.append(paragraph);
    }
    paragraph.append(paragraph.hasChildNodes() ? " " : ""); // a space at the end would move with what comes
    if (sentence.attribution) {
      const who = document.createElement("small");
      who.className = "who";
      Object.assign(who, { lang: "en", dir: "auto" });
      who.textContent = `${sentence.attribution}:`;
      paragraph.append(who, " ");
    }
    paragraph.append(spoken(sentence));
  }

  // A sentence with its markers.
  function spoken(sentence) {
    const span = document.createElement("span");
    span.className = "sentence";
    Object.assign(span, { lang: "en", dir: "auto" }); // as are the studies
    span.append(...unbroken(sentence.text));
    if (sentence.verdict === "weak") {
      const weak = document.createElement("small");
      weak.className = "weak";
      weak.textContent = told("(loosely supported)");
      weak.lang = document.documentElement.lang;
      span.append(" ", weak);
    }
    sentence.citations.forEach((index) => {
      const marker = document.createElement("span");
      marker.className = "cite";
      marker.textContent = `[${index}]`;
      span.append("\u2060", marker);
    });
    return span;
  }

  // Where an answer is shown: at its own address, as what has changed since another one, or beside that one.
  function placeOf(answer, { since, beside }) {
    if (beside) return `/compare/?a=${beside}&b=${answer.id}`;
    const query = new URLSearchParams(since ? { since } : {});
    Object.entries(answer.filters).forEach(([name, values]) => [values].flat().forEach((value) => query.append(name, value)));
    return query.size ? `${answer.url}?${query}` : answer.url;
  }

  // That page takes the place of what was shown meanwhile; htmx puts it there, as after a plain form.
  function settle(answer, mine, waited = 0) {
    if (!mine.before) lay(mine);
    clearTimeout(mine.patience);
    ["understand", "rank", "answer", "verify"].forEach(finished);
    const link = document.querySelector(".making [data-settle]");
    const place = placeOf(answer, mine.form.dataset);
    const top = mine.form.dataset.beside ? 0 : window.scrollY;
    const settled = async (event) => {
      if (asked !== mine) return;
      const isAway = !event.detail.successful && event.detail.xhr.status === 0;
      if (isAway && waited < TRIES) {
        await pause(waited + 1);
        if (asked === mine) settle(answer, mine, waited + 1);
        return;
      }
      asked = null;
      if (!event.detail.successful) location.assign(place);
    };
    link.addEventListener("htmx:afterRequest", settled, { once: true });
    window.htmx
      .ajax("GET", place, { source: link, target: "#content", swap: "innerHTML", headers: { "X-Asked-Here": "1" } })
      .then(() => window.scrollTo(0, top), () => {}); // what failed is told of to `settled`
  }

  function putBack(mine) {
    asked = null;
    clearTimeout(mine.patience);
    mine.form.classList.remove("htmx-request");
    buttonOf(mine.form).disabled = false;
    say("");
    if (!mine.before) return;
    byId("content").replaceChildren(...mine.before.nodes);
    document.title = mine.before.title;
    window.scrollTo(0, mine.before.top);
  }

  function stop() {
    const mine = asked;
    const link = document.querySelector(".making [data-settle]");
    asked = null;
    mine.leaving.abort();
    if (link) window.htmx.trigger(link, "htmx:abort");
    putBack(mine);
  }

  function giveUp(words) {
    const { form } = asked;
    const box = form.elements.question;
    stop();
    trouble(words.trim());
    (box.type === "hidden" ? buttonOf(form) : box).focus({ preventScroll: true });
  }
})();

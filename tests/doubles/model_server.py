"""A language model's server to test against: OpenAI's chat completions over real HTTP, behaving as each request says.

The request's model says how: `good`, `swap_numbers`, `429`, ... A row such as `429,500,good` is for one request after another
of the same part (summary, answer), the last for all that follow; `good|reset` is for the summary and for the answer.
`#7` at the end seeds what is left to chance. Run `python -m tests.doubles.model_server` to try a site against it.
"""

from __future__ import annotations

import argparse
import json
import random
import re
import socket
import struct
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from lab.obedient_model import Row, draft, obey, ranked_sentences, row

LONGEST_WAIT = 60.0  # seconds that a slow behaviour goes on at most
PIECE = 24  # characters of an event
USAGE = {"prompt_tokens": 1000, "completion_tokens": 200, "total_tokens": 1200}


@dataclass
class Asked:
    """One request, as the behaviour sees it."""

    body: dict[str, Any]
    behaviour: str
    chance: random.Random
    material: dict[str, Any] = field(default_factory=dict)

    @property
    def part(self) -> str:
        """`summary` or `answer`, as far as the schema or the prompt tells; else the schema's name, or empty."""
        chosen = self.body.get("response_format") or {}
        name = str((chosen.get("json_schema") or {}).get("name", ""))
        if name:
            return name
        prompt = self.body["messages"][0]["content"]
        return "summary" if "Write the summary" in prompt else "answer" if "Write the answer" in prompt else ""

    @property
    def passages(self) -> list[Row]:
        rows = self.material.get("passages", [])
        return [row if isinstance(row, dict) else {"label": "", "study": "", "sentences": row} for row in rows]

    def sentences(self) -> list[tuple[str, str]]:
        return ranked_sentences({**self.material, "passages": self.passages})


class SlowModel:
    """A model for `otherwise` that keeps its replies back until `go_on` is set; `asked` counts its requests."""

    def __init__(self) -> None:
        self.asked = threading.Semaphore(0)
        self.go_on = threading.Event()

    def behave(self, asked: Asked) -> str:
        self.asked.release()
        self.go_on.wait(LONGEST_WAIT)
        return draft(WRITES["good"](asked))


@contextmanager
def slow_model(settings: Any) -> Iterator[SlowModel]:
    """Set the site up with such a model."""
    from qa_app.answers import answering  # this file serves alone, too

    slow = SlowModel()
    with serving(otherwise=slow.behave) as server:
        settings.OPENAI_MODEL, settings.OPENAI_BASE_URL = "slow", server.base_url
        try:
            yield slow
        finally:
            slow.go_on.set()
            answering._model_server.cache_clear()


# --- What a model writes ---------------------------------------------------------------------------------------------


def chosen(asked: Asked) -> list[Row]:
    return [row(text, label) for text, label in asked.sentences()[: 3 if asked.part == "summary" else 6]]


def changed(asked: Asked, change: Callable[[str, random.Random], str]) -> list[Row]:
    """Good sentences, each changed; those that the change leaves as they are stay away."""
    pairs = [(change(text, asked.chance), text, label) for text, label in asked.sentences()]
    return [row(new, label) for new, text, label in pairs if new != text][:6]


def paraphrase(text: str, chance: random.Random) -> str:
    swaps = {
        "increased": "raised", "produced": "gave", "greater": "larger", "participants": "people", "whereas": "while",
        "approximately": "about", "compared with": "against", "muscle mass": "mass of muscle", "Older": "Elderly",
    }  # fmt: skip
    for old, new in swaps.items():
        text = text.replace(old, new)
    return re.sub(
        r"^(In|Among) ([^,]{3,60}), (\w)(.*?)\.$", lambda m: f"{m[3].upper()}{m[4]} {m[1].lower()} {m[2]}.", text
    )


def swap_numbers(text: str, chance: random.Random) -> str:
    numbers = re.findall(r"\d+(?:\.\d+)?", text)
    if not numbers:
        return text
    old = chance.choice(numbers)
    new = chance.choice([n for n in numbers if n != old] or [str(int(float(old)) + chance.randint(2, 9))])
    return re.sub(rf"(?<![\d.]){re.escape(old)}(?![\d.]*\d)", new, text, count=1)


def flip_directions(text: str, chance: random.Random) -> str:
    pairs = [
        ("increase", "decrease"), ("greater", "smaller"), ("higher", "lower"), ("more", "fewer"), ("improve", "worsen"),
        ("gain", "loss"), ("larger", "smaller"), ("better", "worse"), ("raise", "reduce"),
    ]  # fmt: skip
    for one, other in (*pairs, *((b, a) for a, b in pairs)):
        if re.search(rf"\b{one}", text):
            return re.sub(rf"\b{one}", other, text)
    return text


def drop_negation(text: str, chance: random.Random) -> str:
    shorter = re.sub(r"\b(did|does|do|was|were|is|can) ?not\b", r"\1", text)
    return re.sub(r"\b(?:no|not|neither|without)\s+", "", shorter)


def add_negation(text: str, chance: random.Random) -> str:
    return re.sub(r"\b(was|were|is|are|did|can)\b", r"\1 not", text, count=1)


def swap_population(text: str, chance: random.Random) -> str:
    pairs = {
        "older": "young", "young": "older", "men": "women", "women": "men", "trained": "untrained",
        "untrained": "trained",
    }  # fmt: skip
    return re.sub(r"\b(older|young|men|women|trained|untrained)\b", lambda m: pairs[m[0]], text)


def foreign_passage(asked: Asked) -> list[Row]:
    """Each sentence with the label of a passage that does not hold it."""
    labels = [p["label"] for p in asked.passages]
    return [
        row(text, next((x for x in reversed(labels) if x != label), label)) for text, label in asked.sentences()[:4]
    ]


def invents_citations(asked: Asked) -> list[Row]:
    text = [text for text, _ in asked.sentences()[:6]]
    odd = ["p1", "1", "0", "99", "[1]", "S018", "deadbeef", "", "passages[0].label", "１", "null"]
    return [row(words, asked.chance.choice(odd)) for words in text] + [
        row(f"{INVENTED} raises strength by 312 % [1][99] [[4]] 【3】 [1](javascript:alert(1)).", *odd)
    ]


def marks_inside(asked: Asked) -> list[Row]:
    """Good sentences with citations in every odd form inside the text."""
    forms = [
        "[1]", " [0]", "[99]", " [1, 2]", "［１］", "【3】", "[^1]", "[[1]]", " [1](javascript:alert(1))", "[{label}]",
        " ({label})",
    ]  # fmt: skip
    return [
        row(text[:-1] + asked.chance.choice(forms).replace("{label}", label) + text[-1:], label)
        for text, label in asked.sentences()[:4]
    ]


INVENTED = "Vibranium"
"""Stands in what is made up, and in no corpus."""


def general_knowledge(asked: Asked) -> list[Row]:
    labels = [p["label"] for p in asked.passages]
    facts = [
        f"{INVENTED} is widely known to be the best supplement for muscle growth.",
        f"Experts agree that {INVENTED} doubles strength within 4 weeks.",
        f"A daily dose of 900 mg of {INVENTED} is safe for everybody.",
    ]
    return [row(fact, asked.chance.choice(labels)) for fact in facts]


def echo_prompt(asked: Asked) -> list[Row]:
    labels = [p["label"] for p in asked.passages]
    return [row(line, *labels) for line in asked.body["messages"][0]["content"].splitlines()[:8]]


WRITES: dict[str, Callable[[Asked], list[Row]]] = {
    "good": chosen, "paraphrase": lambda asked: changed(asked, paraphrase) or chosen(asked),
    "swap_numbers": lambda asked: changed(asked, swap_numbers),
    "flip_directions": lambda asked: changed(asked, flip_directions),
    "drop_negation": lambda asked: changed(asked, drop_negation),
    "add_negation": lambda asked: changed(asked, add_negation),
    "swap_population": lambda asked: changed(asked, swap_population), "foreign_passage": foreign_passage,
    "invents_citations": invents_citations, "marks_inside": marks_inside, "general_knowledge": general_knowledge,
    "obeys": lambda asked: obey(
        asked.body["messages"][0]["content"], asked.material, 10 if asked.part == "answer" else 4, asked.chance
    ),
    "echo_prompt": echo_prompt, "unknown": lambda asked: [row("Unknown based on provided sources.")],
    "unknown_among": lambda asked: [row("Unknown based on provided sources."), *chosen(asked)],
    "not_found_among": lambda asked: [row("NOT_FOUND", *[p["label"] for p in asked.passages]), *chosen(asked)],
    "not_found_inside": lambda asked: [row(f"NOT_FOUND {r['text']}", *r["passages"]) for r in chosen(asked)],
    "no_labels": lambda asked: [row(r["text"]) for r in chosen(asked)],
    "repeats": lambda asked: chosen(asked)[:1] * 400,
}  # fmt: skip


CONTENTS: dict[str, Callable[[Asked], str | None]] = {
    "not_found": lambda asked: "NOT_FOUND",
    "not_found_spaced": lambda asked: "\n NOT_FOUND \n",
    "not_found_json": lambda asked: '{"sentences": [], "not_found": true}',
    "not_found_prose": lambda asked: "I am sorry, but NOT_FOUND.",
    "fenced": lambda asked: f"Sure! Here it is:\n```json\n{draft(chosen(asked))}\n```\nAnything else?",
    "prose": lambda asked: " ".join(text for text, _ in asked.sentences()[:3]),
    "empty": lambda asked: "",
    "null": lambda asked: None,
    "half_a_draft": lambda asked: draft(chosen(asked))[: -asked.chance.randint(2, 60)],
    "wrong_shape": lambda asked: asked.chance.choice(
        [
            '{"sentences": 7}', '{"sentences": [7]}', '{"sentences": [{"text": 7}]}', "[]", "{}", '"text"', "null",
            '{"sentences": null}', '{"sentences": [{"text": "a", "passages": {"a": 1}, "paragraph": "x"}]}',
            "[" * 50_000, '{"sentences":' * 20_000,
        ]
    ),
    "surrogates": lambda asked: json.dumps({"sentences": [row("Half \ud83d and \0 null.", "\ud800")]}),
}  # fmt: skip


# --- How a server behaves --------------------------------------------------------------------------------------------


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: ModelDouble
    body: dict[str, Any]

    def log_message(self, format: str, *args: object) -> None:
        return None

    def do_GET(self) -> None:
        """The list of models; `context` says in it how many tokens a request may have, as llama.cpp does."""
        model: dict[str, Any] = {"id": "double", "object": "model", "created": 1, "owned_by": "tests"}
        if self.server.context:
            model["meta"] = {"n_ctx": self.server.context}
        self.reply(200, json.dumps({"object": "list", "data": [model]}).encode())

    def do_POST(self) -> None:
        self.body = body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        asked = self.server.take(body)
        if not self.path.endswith("/chat/completions"):
            self.reply(404, b'{"error": {"message": "no such path"}}')
        elif behave := FAULTS.get(asked.behaviour):
            behave(self, asked)
        elif asked.behaviour in CONTENTS:
            self.complete(CONTENTS[asked.behaviour](asked))
        elif asked.behaviour in WRITES:
            self.complete(draft(WRITES[asked.behaviour](asked)))
        elif self.server.otherwise is not None:
            self.complete(self.server.otherwise(asked))
        else:
            self.refuse(404, f"The model `{asked.behaviour}` does not exist", "model")

    def complete(self, content: str | None, *, ended: str = "stop", usage: bool = True, **message: Any) -> None:
        if self.body.get("stream"):
            self.stream(content or "", ended, usage=usage, **message)
        else:
            self.reply(200, completion(content, ended=ended, usage=usage, **message))

    def stream(self, content: str, ended: str, *, usage: bool = True, **message: Any) -> None:
        """A completion as server-sent events, a few characters each."""
        self.start_pieces("text/event-stream")
        for place in range(0, len(content), PIECE):
            self.event(chunk({"content": content[place : place + PIECE]}))
        self.event(chunk(message, ended))
        if usage and (self.body.get("stream_options") or {}).get("include_usage"):
            self.event(chunk(None) | {"usage": USAGE})
        self.piece(b"data: [DONE]\n\n")
        self.piece(b"")

    def event(self, data: dict[str, Any]) -> None:
        self.piece(b"data: " + json.dumps(data).encode() + b"\n\n")

    def refuse(
        self, status: int, message: str, param: str | None = None, code: str | None = None, **headers: str
    ) -> None:
        error = {"message": message, "type": "invalid_request_error", "param": param, "code": code}
        self.reply(status, json.dumps({"error": error}).encode(), **headers)

    def too_long(self, context: int) -> None:
        """Refuse a prompt that does not fit, as llama.cpp does."""
        told = f"request (9999 tokens) exceeds the available context size ({context} tokens), try increasing it"
        error = {"code": 400, "message": told, "type": "exceed_context_size_error", "n_prompt_tokens": 9999}
        self.reply(400, json.dumps({"error": error | {"n_ctx": context}}).encode())

    def reply(self, status: int, body: bytes, **headers: str) -> None:
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def start_pieces(self, kind: str = "application/json") -> None:
        self.send_response(200)
        self.send_header("Content-Type", kind)
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()

    def piece(self, data: bytes) -> None:
        self.wfile.write(f"{len(data):x}\r\n".encode() + data + b"\r\n")
        self.wfile.flush()

    def hang_up(self, *, hard: bool = False) -> None:
        """Closes the connection; `hard` sends a reset."""
        if hard:
            self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.close_connection = True
        self.connection.shutdown(socket.SHUT_RD) if hard else self.connection.shutdown(socket.SHUT_RDWR)
        self.connection.close()


Behaviour = Callable[[Handler, Asked], None]


def completion(content: str | None, *, ended: str = "stop", usage: bool = True, **message: Any) -> bytes:
    said = {"role": "assistant", "content": content} | message
    choices = [{"index": 0, "finish_reason": ended, "message": said}]
    body: dict[str, Any] = {"id": "chatcmpl-1", "object": "chat.completion", "created": 1, "model": "double"}
    body["choices"] = choices
    if usage:
        body["usage"] = USAGE
    return json.dumps(body).encode()


def chunk(delta: dict[str, Any] | None, ended: str | None = None) -> dict[str, Any]:
    """One piece of a stream; without a delta the one that has no choice, only the count of tokens."""
    choices = [] if delta is None else [{"index": 0, "delta": delta, "finish_reason": ended}]
    return {"id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 1, "model": "double", "choices": choices}


def good(asked: Asked) -> bytes:
    return completion(draft(chosen(asked)))


def odd_usage(asked: Asked) -> bytes:
    return good(asked).replace(b'_tokens": 1000', b'_tokens": "many"').replace(b'_tokens": 200', b'_tokens": -5')


def stall(handler: Handler, asked: Asked) -> None:
    handler.server.closing.wait(LONGEST_WAIT)


def drip(handler: Handler, asked: Asked) -> None:
    """A good reply, a few bytes at a time."""
    handler.start_pieces()
    body = good(asked)
    for place in range(0, len(body), 8):
        if handler.server.closing.wait(handler.server.drip_seconds):
            return
        handler.piece(body[place : place + 8])


def endless(handler: Handler, asked: Asked) -> None:
    handler.start_pieces()
    while not handler.server.closing.wait(0.002):
        handler.piece(b" " * 4096)


def cut(handler: Handler, asked: Asked) -> None:
    handler.start_pieces()
    body = good(asked)
    handler.piece(body[: asked.chance.randrange(1, len(body))])
    handler.hang_up()


def streamed(most: int | None = None, *, pause: float = 0, error: bool = False, goes_on: bool = False) -> Behaviour:
    """A stream of a good reply: only its first events, with pauses, with an error at the end, or one without an end."""

    def behave(handler: Handler, asked: Asked) -> None:
        rows = draft(WRITES["good"](asked))
        handler.start_pieces("text/event-stream")
        for number, place in enumerate(range(0, len(rows), PIECE)):
            if number == most or (pause and handler.server.closing.wait(pause)):
                break
            handler.event(chunk({"content": rows[place : place + PIECE]}))
        while goes_on and not handler.server.closing.wait(0.01):
            handler.event(chunk({"content": " and so on"}))
        if error:
            handler.event({"error": {"code": 500, "message": "out of memory", "type": "server_error"}})
            handler.piece(b"")
        else:
            handler.hang_up()

    return behave


def runs_on(handler: Handler, asked: Asked) -> None:
    """A stream of the same good sentences over and over, until the client leaves; `left` counts who did."""
    rows = ", ".join(json.dumps(row) for row in WRITES["good"](asked))
    handler.start_pieces("text/event-stream")
    handler.event(chunk({"content": '{"sentences": ['}))
    try:
        while not handler.server.closing.wait(0.01):
            handler.event(chunk({"content": f"{rows}, "}))
    except OSError:
        handler.server.left.release()
        raise


def short_of_its_length(handler: Handler, asked: Asked) -> None:
    body = good(asked)
    handler.send_response(200)
    handler.send_header("Content-Length", str(len(body)))
    handler.end_headers()
    handler.wfile.write(body[: len(body) // 2])
    handler.wfile.flush()
    handler.hang_up()


def lacks(*fields: str, told: bool = True) -> Behaviour:
    """A server that refuses fields of a request, and says which, or does not; else it is good."""

    def behave(handler: Handler, asked: Asked) -> None:
        chosen = asked.body.get("response_format") or {}
        used = {*asked.body, chosen.get("type"), *(("maxLength",) if "maxLength" in json.dumps(chosen) else ())}
        missing = [name for name in fields if name in used]
        if not missing:
            handler.complete(draft(WRITES["good"](asked)))
            return
        param = "response_format" if missing[0].startswith(("json_", "maxLength")) else missing[0]
        handler.refuse(400, f"Unsupported parameter: {param}", param if told else None)

    return behave


FAULTS: dict[str, Behaviour] = {
    "429": lambda h, a: h.refuse(429, "Rate limit reached", code="rate_limit_exceeded"),
    "429_after": lambda h, a: h.refuse(429, "Rate limit reached", Retry_After="0.05"),
    "429_later": lambda h, a: h.refuse(429, "Rate limit reached", Retry_After="3600"),
    "429_date": lambda h, a: h.refuse(429, "Rate limit reached", Retry_After="Wed, 21 Oct 2099 07:28:00 GMT"),
    "429_quota": lambda h, a: h.refuse(429, "You exceeded your quota", code="insufficient_quota"),
    "400": lambda h, a: h.refuse(400, "This model's maximum context length is 512 tokens", "messages"),
    "401": lambda h, a: h.refuse(401, "Incorrect API key provided"), "403": lambda h, a: h.refuse(403, "Forbidden"),
    "404": lambda h, a: h.refuse(404, "No such model"),
    "302": lambda h, a: h.reply(302, b"", Location="https://evil.example/v1/chat/completions"),
    "500": lambda h, a: h.refuse(500, "The server had an error"),
    "503": lambda h, a: h.reply(503, b"<html>overloaded</html>"), "timeout": stall,
    "reset": lambda h, a: h.hang_up(hard=True), "hang_up": lambda h, a: h.hang_up(), "drip": drip, "endless": endless,
    "cut": cut, "short": short_of_its_length, "empty_body": lambda h, a: h.reply(200, b""),
    "not_json": lambda h, a: h.reply(200, b'{"choices": [{"message": {"content": "hel'),
    "no_choices": lambda h, a: h.reply(
        200, a.chance.choice([b"{}", b'{"choices": []}', b'{"choices": [null]}', b"[]"])
    ),
    "bad_utf8": lambda h, a: h.reply(200, good(a).replace(b"sentences", b"sent\xff\xfeences")),
    "huge": lambda h, a: h.reply(200, completion("x" * 10_000_000)),
    "packed": lambda h, a: h.reply(200, b"\x1f\x8b" + b"0" * 100, Content_Encoding="gzip"),
    "length": lambda h, a: h.complete(draft(chosen(a))[:-40], ended="length"),
    "filtered": lambda h, a: h.complete(None, ended="content_filter"),
    "refusal": lambda h, a: h.complete(None, refusal="I cannot help with that."),
    "no_usage": lambda h, a: h.complete(draft(chosen(a)), usage=False),
    "odd_usage": lambda h, a: h.reply(200, odd_usage(a)), "no_schema": lacks("json_schema"),
    "no_json": lacks("json_schema", "json_object"), "no_json_untold": lacks("json_schema", "json_object", told=False),
    "old": lacks("json_schema", "json_object", "max_completion_tokens", told=False),
    "no_temperature": lacks("temperature", "max_tokens"), "no_limit": lacks("max_completion_tokens"),
    "no_bounds": lacks("maxLength"), "no_stream": lacks("stream"), "no_stream_options": lacks("stream_options"),
    "ignores_stream": lambda h, a: h.reply(200, good(a)), "stream_cut": streamed(24), "stream_cut_early": streamed(1),
    "stream_error": streamed(24, error=True), "stream_slow": streamed(pause=0.02), "runs_on": runs_on,
    "sentence_without_end": streamed(18, goes_on=True), "too_long": lambda h, a: h.too_long(1024),
}  # fmt: skip
BEHAVIOURS = (*WRITES, *CONTENTS, *FAULTS)


class ModelDouble(ThreadingHTTPServer):
    """The server; `asked` holds every request in order, `otherwise` answers models that name no behaviour."""

    daemon_threads = True
    request_queue_size = 128

    def __init__(self, port: int = 0, otherwise: Callable[[Asked], str] | None = None) -> None:
        super().__init__(("127.0.0.1", port), Handler)
        self.otherwise = otherwise
        self.asked: list[Asked] = []
        self.closing = threading.Event()
        self.left = threading.Semaphore(0)
        self.context: int | None = None
        self.drip_seconds = 1.0
        self._counts: Counter[tuple[str, str]] = Counter()
        self._lock = threading.Lock()

    def reset(self) -> None:
        """Forget what was asked."""
        self.context = None
        self.asked.clear()
        self._counts.clear()

    @property
    def base_url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}/v1"

    def take(self, body: dict[str, Any]) -> Asked:
        """Notes the request and finds how it is to be met."""
        name, _, seed = str(body.get("model", "")).partition("#")
        asked = Asked(body, "", random.Random(seed))
        try:
            material = json.loads(body["messages"][-1]["content"])
            asked.material = material if isinstance(material, dict) else {}
        except ValueError:
            pass  # not a writer's request
        summary, _, answer = name.partition("|")
        row_ = (answer or summary if asked.part == "answer" else summary).split(",")
        with self._lock:
            asked.behaviour = row_[min(self._counts[name, asked.part], len(row_) - 1)]
            self._counts[name, asked.part] += 1
            self.asked.append(asked)
        return asked

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that has gone away is what many behaviours are for."""

    def server_close(self) -> None:
        self.closing.set()
        super().server_close()


@contextmanager
def serving(port: int = 0, otherwise: Callable[[Asked], str] | None = None) -> Iterator[ModelDouble]:
    server = ModelDouble(port, otherwise)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    try:
        yield server
    finally:
        server.closing.set()
        server.shutdown()
        server.server_close()
        thread.join()


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="A language model's server to try a site against.")
    parser.add_argument("--port", type=int, default=9100)
    with serving(parser.parse_args().port) as running:
        print(f"OPENAI_BASE_URL={running.base_url} OPENAI_MODEL=good   one of: {', '.join(BEHAVIOURS)}")
        threading.Event().wait()

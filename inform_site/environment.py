"""The kinds of values that environment variables hold, and how a bad one stops the start."""

from __future__ import annotations

import ipaddress
import os
from collections.abc import Callable, Container
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import environ
from django.core.exceptions import ImproperlyConfigured

from inform_site.clients.addresses import Network, Proxies, read_proxies
from inform_site.clients.limits import Limits, read_limits
from inform_site.corpora import find_corpus
from qa_app.pipeline import policy

BASE_DIR = Path(__file__).resolve().parent.parent
TRUE, FALSE = {"1", "true", "yes", "on"}, {"0", "false", "no", "off"}


@dataclass(frozen=True, slots=True)
class Kind:
    """A type of value: its name in the documentation, and a parser that raises ValueError."""

    name: str
    parse: Callable[[str], Any]


@dataclass(frozen=True, slots=True)
class Variable:
    """An environment variable that the site reads."""

    name: str
    kind: Kind
    default: Any
    meaning: str
    example: str = ""
    """Shown in `.env.example`; empty shows the default."""
    is_secret: bool = False

    @property
    def shown(self) -> str:
        """Return the value for `.env.example`: the example, or the default as it would be written."""
        return self.example or written(self.default)


def cores() -> int:
    """Return how many cores this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def load_env_file() -> None:
    """Add the variables of `.env` that the environment does not hold."""
    environ.Env.read_env(BASE_DIR / ".env")


def read(variable: Variable, default: Any) -> Any:
    """Return the value of a variable, or the default where it is absent or empty. Raises ImproperlyConfigured."""
    text = os.environ.get(variable.name, "").strip()
    if not text:
        return default
    try:
        return variable.kind.parse(text)
    except (ValueError, KeyError, ImproperlyConfigured) as error:
        raise ImproperlyConfigured(
            f"{variable.name} cannot be read: {error}. Correct it in the environment or in .env, or leave it out."
        ) from None


def names_like(prefix: str, *, known: Container[str]) -> list[str]:
    """Return the names in the environment that begin like this and are not known."""
    return sorted(name for name in os.environ if name.startswith(prefix) and name not in known)


def written(value: Any) -> str:
    """Return a value as it would be written in the environment."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, Limits):
        return f"{value.per_minute}/minute, {value.per_day}/day"
    if isinstance(value, Proxies):
        return str(value.count) if not value.networks else ",".join(map(str, value.networks))
    if isinstance(value, list):
        return ",".join(map(str, value))
    return "" if value is None else str(value)


# --- Parsers --------------------------------------------------------------------------------------------------------


def parse_bool(text: str) -> bool:
    word = text.lower()
    if word in TRUE | FALSE:
        return word in TRUE
    raise ValueError(f"{word!r} is not one of true, false")


def whole_number(least: int, most: int = 1_000_000_000) -> Callable[[str], int]:
    def parse(text: str) -> int:
        number = int(text)
        if number < least:
            raise ValueError(f"{number} is below {least}")
        if number > most:
            raise ValueError(f"{number} is not between {least} and {most}")
        return number

    return parse


def parse_amount(text: str) -> float:
    number = float(text)
    if not 0 <= number < 1e9:
        raise ValueError(f"{number} is not between 0 and 1,000,000,000")
    return number


def parse_seconds(text: str) -> float:
    number = float(text)
    if not 0.1 <= number <= 3_600:
        raise ValueError(f"{number} is not between 0.1 and 3,600")
    return number


def parse_corpus(text: str) -> Path | None:
    return find_corpus(text, BASE_DIR)


def parse_policy(text: str) -> str:
    policy.read(text)
    return text


def parse_reranker(text: str) -> str:
    kind, _, model = text.partition(":")
    if text != "llm" and not (kind == "cross-encoder" and model.strip()):
        raise ValueError(f"{text!r} is neither llm nor cross-encoder: with a name or a folder behind it")
    return text


def parse_logs(text: str) -> str:
    if text not in ("text", "json"):
        raise ValueError(f"{text!r} is neither text nor json")
    return text


def parse_list(text: str) -> list[str]:
    return [part.strip() for part in text.split(",") if part.strip()]


def parse_networks(text: str) -> list[Network]:
    return [ipaddress.ip_network(part) for part in parse_list(text)]


def parse_address(text: str) -> str:
    if not urlsplit(text).scheme:
        raise ValueError(f"{text.split('@')[-1]!r} is no address; it should look like scheme://host/name")
    return text


TEXT = Kind("text", str)
FOLDER = Kind("folder", str)
BOOL = Kind("true or false", parse_bool)
NUMBER = Kind("number from 1", whole_number(1))
COUNT = Kind("number from 0", whole_number(0))
PORT = Kind("port", whole_number(1, 65_535))
AMOUNT = Kind("amount", parse_amount)
SECONDS = Kind("seconds", parse_seconds)
LIST = Kind("list", parse_list)
LOGS = Kind("text or json", parse_logs)
ADDRESS = Kind("address", parse_address)
NETWORKS = Kind("networks", parse_networks)
PROXIES = Kind("number or networks", read_proxies)
QUOTA = Kind("quota", read_limits)
CORPUS = Kind("corpus", parse_corpus)
POLICY = Kind("policy", parse_policy)
RERANKER = Kind("reranker", parse_reranker)

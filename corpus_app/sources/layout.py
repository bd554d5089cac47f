"""The corpus folder format (corpus/FORMAT.md): its files, keys and columns, in the order of writing."""

from __future__ import annotations

STUDIES = "studies"
MASTER = "studies_master.csv"
CONCEPTS = "concepts.json"

MASTER_COLUMNS = (
    "study_id",
    "title",
    "authors",
    "year",
    "journal",
    "doi",
    "url",
    "design",
    "peer_reviewed",
    "collection",
    "training_status",
    "age_group",
    "sex",
    "facets",
    "n_studies",
    "n_participants",
    "duration_weeks_min",
    "duration_weeks_max",
    "concepts",
    "status",
    "status_reason",
    "curator_notes",
    "n_passages",
)
MASTER_REQUIRED = ("study_id", "title", "authors", "design", "peer_reviewed", "collection", "status")

SITE = "site.toml"
LEXICON = "lexicon"
RECORDS = "records"
"""The folder of an export's comments, history, waivers and golden questions, which no import takes."""

STUDY_KEYS = (
    "study_id",
    "title",
    "authors",
    "year",
    "journal",
    "doi",
    "pmid",
    "url",
    "design",
    "peer_reviewed",
    "collection",
    "population",
    "facets",
    "n_studies",
    "n_participants",
    "duration_weeks",
    "concepts",
    "takeaway",
    "asked_as",
    "findings",
    "risk_of_bias",
    "licence",
    "curator_notes",
    "labels",
    "status",
    "status_reason",
    "notice",
    "notice_reason",
    "derived_numbers",
    "passages",
    "source_ref",
)
REQUIRED_KEYS = ("study_id", "title", "authors", "design", "peer_reviewed", "collection", "status", "passages")

OF_PEOPLE = frozenset({"population", "training_status", "age_group", "sex", "n_participants"})
"""Columns that are left out of a file in which no study says anything of people."""
POPULATION_KEYS = ("description", "training_status", "age_group", "sex")
DURATION_KEYS = ("min", "max")
FINDING_SAID = ("intervention", "comparator", "outcome", "direction", "statement")
FINDING_KEYS = (*FINDING_SAID, "plain", "lean", "unconfirmed", "asked_as", "effect")
FINDING_REQUIRED = ("intervention", "outcome", "direction", "statement")
EFFECT_KEYS = ("measure", "value", "lower", "upper", "level", "unit")
BIAS_KEYS = ("tool", "domains", "overall", "reason")
DOMAIN_KEYS = ("domain", "judgement", "reason")
PASSAGE_KEYS = ("section", "text", "page", "kind", "heading", "cites", "asked_as")
PASSAGE_REQUIRED = ("section", "text")
CITED_KEYS = ("at", "reference", "label", "doi", "pmid")
CITED_REQUIRED = ("at", "reference")
CONCEPT_KEYS = ("id", "name", "kind", "aliases", "definition", "collections", "wanted")
RELATION_KEYS = ("source", "relation", "target", "studies")
CERTAINTY_KEYS = ("intervention", "outcome", "age_group", "training_status", "sex", "facets", "level", "reasons")
COLLECTION_KEYS = ("id", "name", "description", "keywords")

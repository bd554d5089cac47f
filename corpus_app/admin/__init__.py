"""The curators' desk. Every button calls `curation`; nothing is saved here."""

from corpus_app.admin.concepts import CollectionAdmin, ConceptAdmin, ConceptRelationAdmin
from corpus_app.admin.events import CorpusEventAdmin
from corpus_app.admin.imports import ImportJobAdmin
from corpus_app.admin.passages import PassageAdmin
from corpus_app.admin.people import PersonAdmin
from corpus_app.admin.studies import StudyAdmin

__all__ = [
    "CollectionAdmin",
    "ConceptAdmin",
    "ConceptRelationAdmin",
    "CorpusEventAdmin",
    "ImportJobAdmin",
    "PassageAdmin",
    "PersonAdmin",
    "StudyAdmin",
]

"""The admin site of curators. Every write goes through `corpus_app.curation`."""

from corpus_app.desk.bulk import BulkEditAdmin
from corpus_app.desk.certainties import CertaintyAdmin
from corpus_app.desk.concepts import CollectionAdmin, ConceptAdmin, ConceptRelationAdmin
from corpus_app.desk.events import CorpusEventAdmin
from corpus_app.desk.findings import FindingAdmin
from corpus_app.desk.imports import ImportJobAdmin
from corpus_app.desk.passages import PassageAdmin
from corpus_app.desk.people import PersonAdmin
from corpus_app.desk.studies import StudyAdmin

__all__ = [
    "BulkEditAdmin",
    "CertaintyAdmin",
    "CollectionAdmin",
    "ConceptAdmin",
    "ConceptRelationAdmin",
    "CorpusEventAdmin",
    "FindingAdmin",
    "ImportJobAdmin",
    "PassageAdmin",
    "PersonAdmin",
    "StudyAdmin",
]

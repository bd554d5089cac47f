"""The service layer for every write to the corpus.

Each function runs in one transaction: rows, audit events, sentences and terms, and the corpus version.
Embedding follows on commit. Calls inside one `act(by=…)` form one act and one corpus version.
"""

from corpus_app.curation.acts import (
    Act,
    BrokenText,
    CurationError,
    EditConflict,
    LastPassage,
    NotAllowed,
    NotConfirmed,
    NotDeletable,
    NotPublishable,
    ReasonMissing,
    UnknownStudy,
    act,
    wake_indexing,
)
from corpus_app.curation.broken import Fault, correct_text
from corpus_app.curation.confirming import confirm_finding
from corpus_app.curation.corrections import FindingGone, apply_corrections, correct_study, waive
from corpus_app.curation.entries import delete_entry, save_certainty, save_concept, save_entry
from corpus_app.curation.exporting import Exported, corpus_files, draft_of, export_corpus, snapshot, zip_corpus
from corpus_app.curation.full_export import export_everything, zip_everything
from corpus_app.curation.history import CannotRestore, restore
from corpus_app.curation.identifiers import clean_authors, clean_doi, clean_pmid, clean_url
from corpus_app.curation.importing import ImportReport, import_corpus, known_ids
from corpus_app.curation.lexica import current_lexica, set_lexica
from corpus_app.curation.merging import TAKEABLE, CannotMerge, merge
from corpus_app.curation.rows import find_text_fault
from corpus_app.curation.studies import (
    EDITABLE,
    add_passage,
    apply_retractions,
    arrange_passages,
    assign_study,
    check_new_study_id,
    comment,
    create_study,
    delete_study,
    expect_version,
    find_obstacle,
    find_quality_obstacle,
    find_review_obstacle,
    publish,
    remove_passage,
    revise_passage,
    revise_study,
    send_back,
    set_concepts,
    set_findings,
    set_notice,
    submit,
    withdraw,
)
from corpus_app.curation.vectors import CannotChangeEncoder, change_encoder, drop_former_vectors, embed_again
from corpus_app.curation.wording import add_alias, add_question

__all__ = [
    "EDITABLE",
    "TAKEABLE",
    "Act",
    "BrokenText",
    "CannotChangeEncoder",
    "CannotMerge",
    "CannotRestore",
    "CurationError",
    "EditConflict",
    "Exported",
    "Fault",
    "FindingGone",
    "ImportReport",
    "LastPassage",
    "NotAllowed",
    "NotConfirmed",
    "NotDeletable",
    "NotPublishable",
    "ReasonMissing",
    "UnknownStudy",
    "act",
    "add_alias",
    "add_passage",
    "add_question",
    "apply_corrections",
    "apply_retractions",
    "arrange_passages",
    "assign_study",
    "change_encoder",
    "check_new_study_id",
    "clean_authors",
    "clean_doi",
    "clean_pmid",
    "clean_url",
    "comment",
    "confirm_finding",
    "corpus_files",
    "correct_study",
    "correct_text",
    "create_study",
    "current_lexica",
    "delete_entry",
    "delete_study",
    "draft_of",
    "drop_former_vectors",
    "embed_again",
    "expect_version",
    "export_corpus",
    "export_everything",
    "find_obstacle",
    "find_quality_obstacle",
    "find_review_obstacle",
    "find_text_fault",
    "import_corpus",
    "known_ids",
    "merge",
    "publish",
    "remove_passage",
    "restore",
    "revise_passage",
    "revise_study",
    "save_certainty",
    "save_concept",
    "save_entry",
    "send_back",
    "set_concepts",
    "set_findings",
    "set_lexica",
    "set_notice",
    "snapshot",
    "submit",
    "waive",
    "wake_indexing",
    "withdraw",
    "zip_corpus",
    "zip_everything",
]

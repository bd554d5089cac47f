"""The writing door: everything that changes the corpus, who did it, and what a reader could notice of it.

Every verb is one transaction: rows, audit events, sentences and terms, and the corpus version. Embedding follows on commit.
Several verbs by the same person become one act, and one corpus version, inside `act(by=…)`.
"""

from corpus_app.curation.acts import (
    Act,
    BrokenText,
    CurationError,
    EditConflict,
    LastPassage,
    NotDeletable,
    NotPublishable,
    ReasonMissing,
    UnknownStudy,
    act,
    wake_indexing,
)
from corpus_app.curation.broken import Fault, mended
from corpus_app.curation.entries import delete_entry, save_concept, save_entry
from corpus_app.curation.exporting import Exported, corpus_files, draft_of, export_corpus, snapshot, zipped
from corpus_app.curation.history import CannotRestore, restore
from corpus_app.curation.importing import ImportReport, import_corpus, known
from corpus_app.curation.mending import FindingGone, mend, mend_study, waive
from corpus_app.curation.merging import TAKEABLE, CannotMerge, merge
from corpus_app.curation.rows import find_text_fault
from corpus_app.curation.studies import (
    EDITABLE,
    add_passage,
    apply_retractions,
    arrange_passages,
    check_new_study_id,
    comment,
    create_study,
    delete_study,
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
    "NotDeletable",
    "NotPublishable",
    "ReasonMissing",
    "UnknownStudy",
    "act",
    "add_passage",
    "apply_retractions",
    "arrange_passages",
    "change_encoder",
    "check_new_study_id",
    "comment",
    "corpus_files",
    "create_study",
    "delete_entry",
    "delete_study",
    "draft_of",
    "drop_former_vectors",
    "embed_again",
    "export_corpus",
    "find_obstacle",
    "find_quality_obstacle",
    "find_review_obstacle",
    "find_text_fault",
    "import_corpus",
    "known",
    "mend",
    "mend_study",
    "mended",
    "merge",
    "publish",
    "remove_passage",
    "restore",
    "revise_passage",
    "revise_study",
    "save_concept",
    "save_entry",
    "send_back",
    "set_concepts",
    "set_findings",
    "set_notice",
    "snapshot",
    "submit",
    "waive",
    "wake_indexing",
    "withdraw",
    "zipped",
]

"""Read access to the corpus, and every retrieval query.

Readers see published studies only; questions also leave out retracted ones. Each query applies both rules itself, to
the rows of one snapshot. Nothing is stored: `hypothetical` writes rows and rolls them back.
"""

from common.pipelining import CUT_OFF, statement_pipeline
from corpus_app.embedding import ORIGINAL, EncoderUnavailable
from corpus_app.search.catalogue import (
    collections,
    concepts,
    corpus_digest,
    corpus_figures,
    curated_share,
    is_indexed,
    lexicons,
    most_studied,
    owner_name,
    site,
    site_hash,
    topic_ids,
)
from corpus_app.search.citation_states import STILL_THERE, states, study_states
from corpus_app.search.curated_questions import questions_naming, questions_of, questions_typed
from corpus_app.search.findings import findings, findings_naming, most_compared
from corpus_app.search.hybrid import find
from corpus_app.search.hypothetical import with_alias, with_question
from corpus_app.search.named_studies import named_studies
from corpus_app.search.passages import (
    as_record,
    find_passage,
    load_passages,
    passage_ids,
    passages_among,
    plain_passages,
)
from corpus_app.search.question_vectors import (
    encode_question,
    encode_questions,
    encoder_name,
    mean_vector,
    warm_up,
)
from corpus_app.search.selection import StudySelection, fits
from corpus_app.search.studies import certainties, concepts_of, find_study, published_studies, references, studies
from corpus_app.search.study_counts import counted_studies, journals
from corpus_app.search.study_scores import score_studies
from corpus_app.search.titles import titles_typed
from corpus_app.search.versions import (
    corpus_changed_at,
    corpus_version,
    once_per_version,
    snapshot,
    without_version,
)
from corpus_app.search.words import has_words, is_word, title_words, word_counts
from corpus_app.sources import spreadsheet, to_bibtex, to_csl_json, to_ris

__all__ = [
    "CUT_OFF",
    "ORIGINAL",
    "STILL_THERE",
    "EncoderUnavailable",
    "StudySelection",
    "as_record",
    "certainties",
    "collections",
    "concepts",
    "concepts_of",
    "corpus_changed_at",
    "corpus_digest",
    "corpus_figures",
    "corpus_version",
    "counted_studies",
    "curated_share",
    "encode_question",
    "encode_questions",
    "encoder_name",
    "find",
    "find_passage",
    "find_study",
    "findings",
    "findings_naming",
    "fits",
    "has_words",
    "is_indexed",
    "is_word",
    "journals",
    "lexicons",
    "load_passages",
    "mean_vector",
    "most_compared",
    "most_studied",
    "named_studies",
    "once_per_version",
    "owner_name",
    "passage_ids",
    "passages_among",
    "plain_passages",
    "published_studies",
    "questions_naming",
    "questions_of",
    "questions_typed",
    "references",
    "score_studies",
    "site",
    "site_hash",
    "snapshot",
    "spreadsheet",
    "statement_pipeline",
    "states",
    "studies",
    "study_states",
    "title_words",
    "titles_typed",
    "to_bibtex",
    "to_csl_json",
    "to_ris",
    "topic_ids",
    "warm_up",
    "with_alias",
    "with_question",
    "without_version",
    "word_counts",
]

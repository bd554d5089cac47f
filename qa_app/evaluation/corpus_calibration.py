"""Calibrate the estimates to a corpus without labels, by questions made from its own texts.

A made question is answerable by its source, and unanswerable once its source is left out of the candidates. A slope
and an offset of the logit (Platt 1999) are fitted to tell the two apart, with a penalty that keeps few questions from
moving them far. They apply to studies without curated texts alone: the others have models fitted to readers.
"""

import itertools
import random
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from datetime import timedelta

import numpy as np
from django.db import transaction
from django.db.models import Q
from django.utils import timezone
from numpy.typing import NDArray

from common.waking import wake
from corpus_app import search
from corpus_app.records import Notice
from qa_app.answers import answering, engines
from qa_app.answers.corpus import SearchedCorpus
from qa_app.evaluation import made_questions, verdicts
from qa_app.evaluation.made_questions import MadeQuestion
from qa_app.evaluation.measures import reliability
from qa_app.models import CorpusCalibration
from qa_app.pipeline.learned import Scaling, logit
from qa_app.pipeline.ports import LegFailed
from qa_app.pipeline.retrieval import Models, concepts_about, encode, rank_studies
from qa_app.pipeline.run import parse_question
from qa_app.pipeline.text import clean

MOST_QUESTIONS = 200  # half a minute's work on two cores
LEAST_QUESTIONS = 30  # made of fewer, the figures would be chance
CHANGED_SHARE = 0.1  # of the passages: from then on the figures are fitted anew
PENALTY = 0.02  # of the squared distance from slope 1 and offset 0, a question
SEED = 1
TASK = "qa_app.tasks.calibrate_corpus"
WORKER_TIMEOUT = timedelta(minutes=2)  # without a sign, another worker claims it
BEAT = 5  # questions between two signs of progress
TOO_FEW = "Too few questions could be made of sources without curated texts, so nothing is scaled."


def make_questions() -> tuple[MadeQuestion, ...]:
    """Return up to MOST_QUESTIONS questions made from the published corpus, the kinds in turn."""
    draw = random.Random(SEED)  # noqa: S311 - a sample, not a secret
    studies = [study for study in search.published_studies() if study.notice is not Notice.RETRACTED]
    draw.shuffle(studies)
    studies = studies[:MOST_QUESTIONS]
    ids = [study.study_id for study in studies]
    own = [search.passage_ids(study_id) for study_id in ids]
    share = max(1, MOST_QUESTIONS // max(len(ids), 1))
    chosen = [pk for pks in own for pk in draw.sample(pks, min(share, len(pks)))]
    kinds = (
        made_questions.from_passages(search.load_passages(chosen), seed=SEED),
        made_questions.from_titles((study.study_id, study.title) for study in studies),
        made_questions.from_definitions(
            search.concepts(), [(study.study_id, frozenset(study.concepts)) for study in studies]
        ),
        made_questions.from_findings(search.findings(ids)),
    )
    turns = itertools.chain.from_iterable(itertools.zip_longest(*kinds))
    return tuple(itertools.islice(filter(None, turns), MOST_QUESTIONS))


@dataclass(frozen=True, slots=True)
class Estimates:
    """The logits of one made question, with its source and without it."""

    answerable: float
    unanswerable: float
    lead: float
    lead_without: float
    is_found: bool
    """Whether the source leads."""


def estimate(question: MadeQuestion, corpus: SearchedCorpus, models: Models) -> Estimates | None:
    """Return the estimates of a question; None where its source is no candidate, or curators wrote its texts."""
    with search.snapshot():
        facts = corpus.facts()
        query = parse_question(clean(question.text), corpus, facts)
        vectors = encode(query, corpus)
        found = corpus.find(query.text, vectors[0], collection=None, limit=200, error=None)
        trusted = vectors if models.is_calibrated else ()
        scores = corpus.score_studies(query.text, trusted, collection=None, limit=answering.POLICY.candidates)
    own = next((score for score in scores if score.study_id == question.study_id), None)
    if own is None or own.is_curated:
        return None
    about = concepts_about(query, scores, corpus)
    plain, vector = replace(facts, scaling=None), next(iter(trusted), None)
    whole = rank_studies(query, plain, models, vector, found, scores, about)
    others = tuple(score for score in scores if score.study_id != question.study_id)
    without = rank_studies(query, plain, models, vector, found, others, about)
    return Estimates(
        answerable=logit(whole.answerable),
        unanswerable=logit(without.answerable),
        lead=logit(whole.lead),
        lead_without=logit(without.lead),
        is_found=whole.ranked[0][0] == question.study_id,
    )


def fit(logits: Sequence[float], targets: Sequence[bool]) -> tuple[float, float]:
    """Return slope and offset of the logistic regression on one logit, near 1 and 0 where little says otherwise."""
    x, y = np.asarray(logits), np.asarray(targets, dtype=float)
    penalty = PENALTY * len(x)
    slope, offset = 1.0, 0.0
    for _ in range(50):  # Newton's method; the loss is convex
        chance = 1 / (1 + np.exp(-np.clip(slope * x + offset, -30, 30)))
        gradient = np.array([((chance - y) * x).sum() + penalty * (slope - 1), (chance - y).sum() + penalty * offset])
        weight = chance * (1 - chance)
        curvature = np.array(
            [[(weight * x * x).sum() + penalty, (weight * x).sum()], [(weight * x).sum(), weight.sum() + penalty]]
        )
        step = np.linalg.solve(curvature, gradient)
        slope, offset = slope - step[0], offset - step[1]
        if np.abs(step).max() < 1e-8:
            break
    return max(float(slope), 0.0), float(offset)


def auroc(yes: NDArray[np.float64], no: NDArray[np.float64]) -> float:
    """Return the chance that an answerable question has the higher estimate (Hanley and McNeil 1982)."""
    above = (yes[:, None] > no[None, :]).mean() + 0.5 * (yes[:, None] == no[None, :]).mean()
    return float(above)


def is_due() -> bool:
    """Return whether the corpus or the models have changed since the last attempt, enough to matter."""
    last = CorpusCalibration.objects.filter(is_under_way=False).order_by("-pk").first()
    passages = search.corpus_figures()["passages"]
    if last is None or last.models_version != engines.engine(answering.POLICY).models.version:
        return bool(passages)
    return bool(abs(passages - last.passages) > CHANGED_SHARE * last.passages)


def request() -> CorpusCalibration:
    """Ask a worker for a calibration; return the one under way, if there is one."""
    row = CorpusCalibration.objects.filter(is_under_way=True).first()
    row = row or CorpusCalibration.objects.create(is_under_way=True)
    wake(TASK)
    return row


def claim() -> CorpusCalibration | None:
    """Claim a calibration that waits, or whose worker stopped; None where there is none."""
    now = timezone.now()
    left = Q(beat_at=None) | Q(beat_at__lt=now - WORKER_TIMEOUT)
    with transaction.atomic():
        rows = CorpusCalibration.objects.select_for_update(skip_locked=True).filter(left, is_under_way=True)
        if row := rows.order_by("pk").first():
            row.beat_at = now
            row.save(update_fields=["beat_at"])
    return row


def calibrate(row: CorpusCalibration | None = None) -> CorpusCalibration | None:
    """Fit the present corpus and store the figures; None where too few questions can be made of it.

    Questions that curators say should be refused count as unanswerable. Raises EncoderUnavailable.
    """
    row = row or CorpusCalibration.objects.create(is_under_way=True, beat_at=timezone.now())
    try:
        _fit_and_store(row)
    except LegFailed as error:
        _end(row, error=str(error))
        raise search.EncoderUnavailable(str(error)) from error
    except Exception as error:
        _end(row, error=f"{type(error).__name__}: {error}")
        raise
    return None if row.error else row


def _fit_and_store(row: CorpusCalibration) -> None:
    corpus, models, refused = SearchedCorpus(), engines.engine(answering.POLICY).models, verdicts.refused_questions()
    questions = make_questions()
    found: list[tuple[Estimates, bool]] = []
    for done, question in enumerate(questions, start=1):
        if estimates := estimate(question, corpus, models):
            found.append((estimates, question.text not in refused))
        if done % BEAT == 0 or done == len(questions):
            beat = {"done": done, "total": len(questions), "beat_at": timezone.now()}
            CorpusCalibration.objects.filter(pk=row.pk).update(**beat)
    row.models_version = models.version
    if len(found) < LEAST_QUESTIONS:
        _end(row, error=TOO_FEW)
        return
    logits = [e.answerable for e, _ in found] + [e.unanswerable for e, _ in found]
    targets = [is_answered for _, is_answered in found] + [False] * len(found)
    slope, offset = fit(logits, targets)
    leads = [e.lead for e, _ in found] + [e.lead_without for e, _ in found]
    is_right = [e.is_found and is_answered for e, is_answered in found] + [False] * len(found)
    lead_slope, lead_offset = fit(leads, is_right)
    x, y = np.array(logits), np.array(targets)
    row.questions, row.auroc = len(found), auroc(x[y], x[~y])
    row.figures = asdict(Scaling(slope, offset, lead_slope, lead_offset))
    chances = 1 / (1 + np.exp(-(lead_slope * np.array(leads) + lead_offset)))
    row.bins = [asdict(one) for one in reliability(chances.tolist(), is_right)]
    _end(row)


def _end(row: CorpusCalibration, *, error: str = "") -> None:
    row.is_under_way, row.error, row.beat_at = False, error[:2_000], timezone.now()
    row.corpus_version, row.passages = search.corpus_version(), search.corpus_figures()["passages"]
    names = "is_under_way error beat_at corpus_version passages models_version questions auroc figures bins"
    row.save(update_fields=names.split())

"""Evidence bundles that readers can verify without this site, and replays of stored answers."""

from __future__ import annotations

import hashlib
import io
import json
import zipfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from qa_app.answers import asking, presentation, replaying, storing
from qa_app.answers.exporting import Export
from qa_app.answers.replaying import CannotReplay
from qa_app.answers.time_limit import limited
from qa_app.models import Answer

__all__ = ["CannotReplay", "bundle", "replay"]

Payload = Mapping[str, Any]

FORMAT = "inform-bundle-1"
VERIFIER = "verify.py"
HIDDEN_FROM = (
    "headline",
    "summary",
    "answer",
    "agreement",
    "evidence",
    "left_out",
)  # fields that may quote a withdrawn study
_READABLE = 0o100644 << 16  # a plain file that its owner may write


def bundle(answer_id: str) -> Export | None:
    """Return the answer's evidence bundle, a reproducible zip; None where there is no such answer.

    The zip contains the answer as it reads now, its passages, the place of each quotation, hashes and a verifier.
    """
    payload = asking.find_answer(answer_id)
    if payload is None:
        return None
    files = {
        "answer.json": _json(payload),
        "spans.json": _json(list(_spans(payload))),
        **{_passage(row): row["text"].encode() for row in payload["evidence"]},
        VERIFIER: _verifier(),
    }
    hashes = {name: hashlib.sha256(content).hexdigest() for name, content in sorted(files.items())}
    files["manifest.json"] = _json({"format": FORMAT, "answer": payload["id"], "sha256": hashes})
    return Export(_zipped(files), "application/zip", f"inform-{payload['id']}.zip")


def replay(answer_id: str) -> dict[str, Any] | None:
    """Compare a stored answer with a fresh one: `is_same`, `changed` inputs and line `differences`.

    None where there is no such answer. `differences` is None where a source was withdrawn, which they would quote.
    Raises CannotReplay.
    """
    shown = asking.find_answer(answer_id)
    with limited() as limit:
        made = shown and replaying.replay(answer_id, limit=limit)
    if not shown or not made:
        return None
    stored = storing.restore_payload(Answer.objects.only("payload").get(pk=answer_id).payload)
    is_whole = all(stored[name] == shown[name] for name in HIDDEN_FROM)
    return {
        "is_same": made.is_same,
        "changed": list(made.changed),
        "differences": list(made.differences) if is_whole else None,
    }


def _spans(payload: Payload) -> Iterator[dict[str, Any]]:
    """Yield every quotation with its place: sentences from 1 within a part, code points, end exclusive."""
    for part in presentation.QUOTED:
        for number, sentence in enumerate(presentation.sentence_rows(payload, part), start=1):
            for row in sentence["support"]:
                if "finding_ids" not in row:
                    place = {"part": part, "sentence": number, "study_id": row["study_id"], "passage": _passage(row)}
                    yield place | {name: row[name] for name in ("start", "end", "quote")}


def _passage(row: Payload) -> str:
    return f"passages/{row['passage_id']}-v{row['passage_version']}.txt"


def _verifier() -> bytes:
    return (Path(__file__).parent / "bundled" / VERIFIER).read_bytes()


def _json(value: Any) -> bytes:
    return (json.dumps(value, indent=2, ensure_ascii=False) + "\n").encode()


def _zipped(files: Mapping[str, bytes]) -> bytes:
    """Return the files as an uncompressed zip: another zlib release might compress to other bytes."""
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_STORED) as archive:
        for name, content in sorted(files.items()):
            entry = zipfile.ZipInfo(name)  # dated 1980, as entries without a date are
            entry.external_attr, entry.create_system = _READABLE, 3
            archive.writestr(entry, content)
    return packed.getvalue()

"""The extractive writer: returns the sentences that selection and composition chose."""

from __future__ import annotations

from qa_app.pipeline.policy import Policy
from qa_app.pipeline.records import Draft, Evidence, Generator, InsufficientEvidence

EXTRACTIVE = Generator(name="extractive", version="18")


class ExtractiveWriter:
    """A deterministic writer without keys or network."""

    name = EXTRACTIVE.name

    def write(self, evidence: Evidence, policy: Policy) -> tuple[Draft, Generator]:
        """Return the composed draft. Raises InsufficientEvidence where nothing was composed."""
        if evidence.draft is None:
            raise InsufficientEvidence("No sentence was chosen from the evidence.")
        return evidence.draft, EXTRACTIVE

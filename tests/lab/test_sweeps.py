"""The sweeps of lab/, a short form of each, on one site in processes of its own."""

from collections.abc import Iterator

import pytest

from lab import abuse, faults
from lab.management.commands.soak import soak
from lab.obedient_model import serving
from lab.own_site import OwnSite, own_site

BUSY_MACHINE_SECONDS = 60.0  # recovery; `make faults` wants 5


@pytest.fixture(scope="module")
def site() -> Iterator[OwnSite]:
    with (
        serving() as model,
        own_site(OPENAI_BASE_URL=model.base_url, OPENAI_MODEL="obeys", OPENAI_API_KEY="none") as site,
    ):
        yield site


def test_strangers_neither_break_nor_read_nor_command_the_site(site: OwnSite) -> None:
    tallies = list(abuse.sweep(site, 200, abuse.TEXTS[:3], abuse.ORDERS[:1], []))

    assert [broken for tally in tallies for broken in tally.broken] == []
    assert all(tally.statuses for tally in tallies)


def test_nothing_is_lost_when_processes_and_the_database_end_in_the_middle(site: OwnSite) -> None:
    pairs = [("answer", "connection lost"), ("publish", "database killed"), ("import", "slow lock")]
    outcomes = [
        faults.inflict(site, stage, fault, recovery_seconds=BUSY_MACHINE_SECONDS, hold_seconds=0.5)
        for stage, fault in pairs
    ]

    assert [broken for outcome in outcomes for broken in outcome.broken] == []


def test_a_soak_reports_each_process_and_the_connections(site: OwnSite) -> None:
    figures = {name: after for name, _, after, _ in soak(site, 3)}

    assert {"web 1", "web 2", "index", "imports", "mail", "upkeep", "connections"} <= figures.keys()
    assert all(figures[name] > 0 for name in figures if name != "5xx")
    assert figures["5xx"] == 0

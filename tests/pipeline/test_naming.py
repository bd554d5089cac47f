"""Names that a number or a letter belongs to."""

from __future__ import annotations

import pytest

from qa_app.pipeline.naming import find_numbered


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("Does lifting help in type 1 diabetes?", ("type 1",)),
        ("Types 1 and 2 diabetes", ("type 1", "type 2")),
        ("type I vs type II fibres", ("type 1", "type 2")),
        ("vitamins B6, B12 and D", ("vitamin b6", "vitamin b12", "vitamin d")),
        ("Omega-3 and omega 6 fats", ("omega 3", "omega 6")),
        ("GLP\u20111 drugs, IL-6 and COVID-19", ("glp 1", "il 6", "covid 19")),
        ("stage 4 kidney disease, grade II", ("stage 4", "grade 2")),
        ("aged 40-65, 3 sets of 8-12, 20 g, RPE 8, post-12 weeks", ()),
        ("types of training in a class a week", ()),
        ("creatine 5 g after 2 hours; women over 65", ()),
    ],
)
def test_a_number_belongs_to_a_name(text: str, names: tuple[str, ...]) -> None:
    assert find_numbered(text) == names

"""Declared secrets: from an application's specification to values in an environment (section 6.5)."""

from __future__ import annotations

import pytest

from sessionlab.redaction import declared_names, declared_values


@pytest.mark.parametrize(
    ("appspec", "names"),
    [
        pytest.param({"requires": {"secrets": ["A_KEY", "B_KEY"]}}, ["A_KEY", "B_KEY"], id="names"),
        pytest.param({"requires": {"secrets": [{"name": "A"}, {"env": "B"}]}}, ["A", "B"], id="objects"),
        pytest.param({"requires": {"secrets": [{"name": "a title", "env": "A"}]}}, ["A"], id="env before name"),
        pytest.param({"requires": {"secrets": [{"env": "", "name": "A"}]}}, ["A"], id="an empty env says nothing"),
        pytest.param({"requires": {"secrets": ("A",)}}, ["A"], id="a tuple"),
        pytest.param({"requires": {"secrets": "A"}}, ["A"], id="one name"),
        pytest.param({"requires": {"secrets": {"A": None, "b": {"env": "B"}}}}, ["A", "B"], id="an object by name"),
        pytest.param({"env": {"A": "x", "B": None, "C": {"description": "d"}}}, ["A", "B", "C"], id="env by name"),
        pytest.param({"env": ["A", "B=b=c", {"name": "C", "value": "D"}]}, ["A", "B", "C"], id="env as a list"),
        pytest.param(
            {"env": {"B": "", "A": ""}, "requires": {"secrets": ["A", "C"]}}, ["A", "C", "B"], id="both, each once"
        ),
        pytest.param({"env": [" A ", "", "=b", None, 5, {}, {"name": 5}, ["X"], True]}, ["A"], id="what names nothing"),
        pytest.param({"env": {5: "x", "A": 5}}, ["A"], id="a key that is no text"),
        pytest.param({"requires": ["A"], "env": 5, "secrets": ["B"]}, [], id="other forms"),
        pytest.param({"requires": {"secrets": None}, "env": None}, [], id="null"),
        pytest.param({"id": "app", "name": "App", "kind": "chat"}, [], id="none declared"),
    ],
)
def test_names_an_appspec_declares(appspec: dict[str, object], names: list[str]) -> None:
    """`requires.secrets` and then `env`, in their order; whatever else stands there is passed over."""
    assert declared_names(appspec) == names


def test_values_in_the_order_of_the_names_blank_ones_skipped() -> None:
    """6.5: as they are in the environment; missing, empty and blank ones are none."""
    environ = {"A": " a ", "B": "", "C": " \t", "D": "d", "E": "e"}
    assert declared_values(["E", "C", "X", "B", "A", "D"], environ) == ["e", " a ", "d"]

"""What the documents say is run, and what can be set is documented."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from pointsman.gateway.settings import GLOBALS, PointVariables
from pointsman.providers.decisions_api import JevSettings
from pointsman.providers.local.provider import LocalSettings

ROOT = Path(__file__).parent.parent
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
FENCE = re.compile(r"^```python\n(.*?)^```$", re.MULTILINE | re.DOTALL)

README = (ROOT / "README.md").read_text("utf-8")
EXAMPLE = (ROOT / ".env.example").read_text("utf-8")

VARIABLES = sorted(
    {
        *GLOBALS,
        "AI_GATEWAY_API_KEY",
        "CURRENT_PROVIDER",
        *(f"JEV_{name.upper()}" for name in JevSettings.model_fields if name != "api_key"),
        *(f"LOCAL_{name.upper()}" for name in LocalSettings.model_fields),
        "JEV_MIN_CONFIDENCE",
        "LOCAL_MIN_CONFIDENCE",
    }
)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_snippet_of_a_page_runs(page: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A reader who types in a page's Python, from top to bottom, meets no error."""
    monkeypatch.setenv("DECISION_LOG", "off")
    namespace: dict[str, Any] = {"__name__": "__main__"}
    for snippet in FENCE.findall(page.read_text("utf-8")):
        exec(compile(snippet, str(page), "exec"), namespace)  # noqa: S102 - our own documents


@pytest.mark.parametrize("variable", VARIABLES)
def test_every_variable_stands_in_readme_and_example(variable: str) -> None:
    """A variable that the README does not name does not exist for its reader."""
    assert f"`{variable}`" in README
    assert re.search(rf"^(# )?{variable}=", EXAMPLE, re.MULTILINE)


@pytest.mark.parametrize("field", sorted(PointVariables.model_fields))
def test_every_suffix_stands_in_readme_and_example(field: str) -> None:
    """The variables of a point are documented for `<POINT>` and shown for one."""
    assert f"`DECISION_<POINT>_{field.upper()}`" in README
    assert f"DECISION_ROUTER_{field.upper()}=" in EXAMPLE


def test_the_example_file_names_nothing_that_is_not_there() -> None:
    """A line in the example that nothing reads would be copied in good faith."""
    named = set(re.findall(r"^(?:# )?([A-Z_]+)=", EXAMPLE, re.MULTILINE))
    points = {name for name in named if name.startswith("DECISION_") and name not in GLOBALS}
    endings = tuple(f"_{field.upper()}" for field in PointVariables.model_fields)
    assert all(name.endswith(endings) for name in points)
    assert named - points <= set(VARIABLES)


@pytest.mark.parametrize(
    ("provider", "printed"),
    [("current", "none current ['ok']"), ("local", "billing local ['ok']")],
)
def test_the_first_snippet_prints_what_the_readme_says(
    provider: str,
    printed: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """One variable is changed, and another provider answers."""
    monkeypatch.setenv("DECISION_LOG", "off")
    monkeypatch.setenv("DECISION_ROUTER_PROVIDER", provider)

    exec(compile(FENCE.findall(README)[0], "README.md", "exec"), {"__name__": "__main__"})  # noqa: S102

    assert capsys.readouterr().out.strip() == printed
    assert printed in README

"""What the documents say is run, and what can be set is documented."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from fences import DIFF, PYTHON, changes, page_runs
from pointsman.decision_points import pointsman_points
from pointsman.decision_points.facts.settings import FactsSettings
from pointsman.gateway.cli.markdown import page as page_of
from pointsman.gateway.server.settings import ServerSettings
from pointsman.gateway.variables import GLOBALS, PointVariables
from pointsman.providers.chat.settings import ChatSettings
from pointsman.providers.decisions_api import ENDPOINTS, Endpoint, JevSettings
from pointsman.providers.decisions_api.endpoints import DIALECTS
from pointsman.providers.deliberation.committee import CommitteeSettings
from pointsman.providers.deliberation.dynamics import DebateSettings
from pointsman.providers.local.provider import LocalSettings

ROOT = Path(__file__).parent.parent
FRAMEWORKS = ROOT / "docs" / "frameworks"
ANYWHERE = [FRAMEWORKS / name for name in ("README.md", "approvals.md")]  # need no framework
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md")), *filter(Path.exists, ANYWHERE)]

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
        "JEV_MASK",
        "LOCAL_MASK",
        "JEV_BUDGET_USD_PER_DAY",
    }
)

PROVIDERS = (ROOT / "docs" / "providers.md").read_text("utf-8")
SHARED = ("timeout_seconds", "max_attempts", "allow_http")  # shown once, for `jev`
HOSTED = sorted(
    {
        field.alias or f"{row.provider.upper()}_{name.upper()}"
        for row in ENDPOINTS
        for name, field in row.settings.model_fields.items()
        if name not in SHARED
    }
)


@pytest.mark.parametrize("variable", HOSTED)
def test_every_variable_of_a_hosted_decider_stands_in_its_page_and_the_example(
    variable: str,
) -> None:
    """The page names keys and addresses of each, and once what all have."""
    shared = f"`<PROVIDER>_{variable.partition('_')[2]}`"
    assert f"`{variable}`" in PROVIDERS or shared in PROVIDERS
    assert re.search(rf"^# {variable}=", EXAMPLE, re.MULTILINE)


MINIMUMS = {"CHAT_MIN_CONFIDENCE", "COMMITTEE_MIN_CONFIDENCE", "DEBATE_MIN_CONFIDENCE"}
ELSEWHERE = {
    **{f"CHAT_{name.upper()}": "chat.md" for name in ChatSettings.model_fields},
    **{f"SERVER_{name.upper()}": "deployment.md" for name in ServerSettings.model_fields},
    **{f"COMMITTEE_{name.upper()}": "committee.md" for name in CommitteeSettings.model_fields},
    **{f"DEBATE_{name.upper()}": "debate.md" for name in DebateSettings.model_fields},
    **{f"FACTS_{name.upper()}": "facts.md" for name in FactsSettings.model_fields},
}


@pytest.mark.parametrize("variable", ELSEWHERE)
def test_every_variable_of_a_page_of_its_own_stands_there_and_in_the_example(
    variable: str,
) -> None:
    """The README names the first of them and the page."""
    page = ELSEWHERE[variable]
    assert f"`{variable}`" in (ROOT / "docs" / page).read_text("utf-8")
    assert f"(docs/{page})" in README
    assert re.search(rf"^# {variable}=", EXAMPLE, re.MULTILINE)


@pytest.mark.parametrize("row", ENDPOINTS, ids=lambda row: f"{row.provider} {row.path}")
def test_the_page_says_what_the_table_says(row: Endpoint) -> None:
    """Model and dialect of each provider."""
    (line,) = re.findall(rf"^\| `{row.provider}` \|.*$", PROVIDERS, re.MULTILINE)
    assert line.endswith(f"| {DIALECTS[row.dialect]} |")
    assert not row.model or f"`{row.model}`" in line


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_snippet_of_a_page_runs(
    page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A reader who types in a page's Python, from top to bottom, meets no error."""
    monkeypatch.setenv("DECISION_LOG", "off")
    monkeypatch.chdir(tmp_path)  # where a page makes files of its own
    page_runs(page)


SWITCHED = sorted(one.parent for one in (ROOT / "examples").glob("*/switched.py"))
FEW = 12  # lines that a host adds


@pytest.mark.parametrize("folder", SWITCHED, ids=lambda folder: folder.name)
def test_a_host_switches_by_a_few_lines_which_its_page_shows(folder: Path) -> None:
    """What the page of a framework shows is what leads from `today.py` to `switched.py`."""
    lines = changes(folder / "today.py", folder / "switched.py")
    page = FRAMEWORKS / f"{folder.name.replace('_', '-')}.md"

    assert 0 < sum(line.startswith("+") for line in lines) <= FEW
    shown = DIFF.findall(page.read_text("utf-8"))[0]
    assert shown.splitlines() == lines
    assert f"```diff\n{shown}```" in README


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


def test_the_page_about_the_points_is_what_the_command_prints() -> None:
    """`pointsman points --markdown > docs/decision-points.md` writes it anew."""
    written = (ROOT / "docs" / "decision-points.md").read_text("utf-8")
    assert written == page_of(pointsman_points())


def test_readers_are_told_how_many_points_there_are() -> None:
    internal = [point.internal for point in pointsman_points()]
    assert (internal.count(False), internal.count(True)) == (29, 5)
    for page in ("README.md", "CHANGELOG.md", "docs/decisions.md"):
        assert "Twenty-nine" in (ROOT / page).read_text("utf-8")


@pytest.mark.parametrize("point", [point.name for point in pointsman_points()])
def test_the_example_has_one_active_line_for_each_point(point: str) -> None:
    """It says `current`, so that a file which is copied whole changes nothing."""
    lines = re.findall(rf"^DECISION_{point}_PROVIDER=(.*)$", EXAMPLE, re.MULTILINE)
    assert lines == ["current"]


def test_the_example_names_aliases_only_in_comments() -> None:
    aliases = [alias for point in pointsman_points() for alias in point.aliases]
    assert aliases
    for alias in aliases:
        assert re.search(rf"^# .*\b{alias}\b", EXAMPLE, re.MULTILINE)
        assert not re.search(rf"^DECISION_{alias}_", EXAMPLE, re.MULTILINE)


def test_the_example_file_names_nothing_that_is_not_there() -> None:
    """A line in the example that nothing reads would be copied in good faith."""
    named = set(re.findall(r"^(?:# )?([A-Z_]+)=", EXAMPLE, re.MULTILINE))
    points = {name for name in named if name.startswith("DECISION_") and name not in GLOBALS}
    endings = tuple(f"_{field.upper()}" for field in PointVariables.model_fields)
    assert all(name.endswith(endings) for name in points)
    assert named - points <= {*VARIABLES, *HOSTED, *ELSEWHERE, *MINIMUMS}


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

    exec(compile(PYTHON.findall(README)[0], "README.md", "exec"), {"__name__": "__main__"})  # noqa: S102

    assert capsys.readouterr().out.strip() == printed
    assert printed in README

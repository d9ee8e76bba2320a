"""`pointsman facts`, as a person sees it."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

import pointsman.decision_points.facts
from commanding import clean
from pointsman.decision_points.facts import FactStore
from pointsman.decision_points.facts.commands.app import COMMANDS
from pointsman.gateway.cli.app import app

POLICY = """
schema = 1
[attributes.price]
type = "money"
currency = "BRL"
locale = "pt_BR"
change = "over_time"
[attributes.term]
"""
REGISTRY = """
schema = 1
order = ["signed", "chat"]
[sources.contract]
level = "signed"
[sources.addendum]
level = "signed"
[sources.whatsapp]
level = "chat"
[actors.maria]
may_correct = ["*"]
"""
CLAIMS = """\
entity,attribute,value,source,observed_at,confidence,writer,q:contract
acme,price,"R$ 100,00",contract,2025-11-14,0.9,reader-1,c1
acme,price,"R$ 90,00",whatsapp,2025-11-20,0.95,reader-2,c1
acme,term,30 Days,contract,2025-11-14,0.9,reader-1,
acme,term,45 Days,addendum,2025-11-14,0.9,reader-2,
acme,size,large,whatsapp,,,,
"""
PRICE = "acme/price?contract=c1"
WHY = ("--reason", "the addendum is newer")


def _files(folder: Path) -> None:
    (folder / "policy.toml").write_text(POLICY)
    (folder / "registry.toml").write_text(REGISTRY)
    (folder / "claims.csv").write_text(CLAIMS)


@pytest.fixture(autouse=True)
def _alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each test has a folder of its own, and none of the developer's variables."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "80")
    for name in os.environ:
        if name.startswith(("DECISION_", "FACTS_")):
            monkeypatch.delenv(name)
    _files(tmp_path)


@pytest.fixture(scope="module")
def _once(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Load the claims once for all tests that begin with them."""
    folder = tmp_path_factory.mktemp("loaded")
    _files(folder)
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        assert loaded().exit_code == 0
    return folder / ".pointsman"


@pytest.fixture
def _loaded(_once: Path, tmp_path: Path) -> None:
    """Begin with the claims loaded."""
    shutil.copytree(_once, tmp_path / ".pointsman")


def facts(*args: str, env: Mapping[str, str] | None = None, typed: str | None = None) -> Any:
    return CliRunner().invoke(app, ["facts", *args], env=env, input=typed)


def loaded(name: str = "claims.csv", *more: str) -> Any:
    return facts("load", name, "--policy", "policy.toml", "--registry", "registry.toml", *more)


def data(*args: str) -> Any:
    run = facts(*args, "--json")
    assert run.stderr == "", run.stderr
    return json.loads(run.stdout)


def rows(*args: str) -> list[Any]:
    return [json.loads(line) for line in facts(*args, "--json").stdout.splitlines()]


def values(*args: str) -> dict[str, Any]:
    return {one["key"]: (one["status"], one["value"]) for one in rows("list", *args)}


def dispute() -> dict[str, Any]:
    (found,) = rows("disputes")
    assert isinstance(found, dict)
    return found


# --- where there is nothing ----------------------------------------------------------------------

READS = {
    "get": ("get", PRICE),
    "list": ("list",),
    "explain": ("explain", PRICE),
    "history": ("history", PRICE),
    "disputes": ("disputes",),
    "what-if": ("what-if", "policy.toml"),
    "audit": ("audit",),
    "verify": ("verify",),
    "export": ("export", "out.jsonl"),
}


@pytest.mark.parametrize("args", READS.values(), ids=READS)
def test_without_facts_it_says_so_and_makes_none(args: tuple[str, ...], tmp_path: Path) -> None:
    run = facts(*args)

    assert run.exit_code == 2
    assert "there are no facts yet" in run.stderr
    assert not (tmp_path / ".pointsman").exists()
    assert not (tmp_path / "out.jsonl").exists()


def test_help_names_every_command_and_touches_nothing(tmp_path: Path) -> None:
    run = facts("--help")

    assert run.exit_code == 0
    for name in (*READS, "load", "resolve", "adopt", "retract", "impact", "events", "import"):
        assert f"{name} " in run.stdout
    assert not (tmp_path / ".pointsman").exists()


# --- load ----------------------------------------------------------------------------------------


def test_claims_are_loaded_once_however_often() -> None:
    run = loaded()

    assert run.exit_code == 0
    assert run.stderr.startswith("5 assertions are new.\n")
    assert run.stdout.split() == [
        *("disputed", "1", "fact"),
        *("resolved", "1", "fact"),
        *("unreconciled", "1", "fact"),
    ]
    again = loaded()
    assert again.exit_code == 0
    assert again.stderr.startswith("0 assertions are new, 5 were there already.\n")


def test_names_that_nothing_declares_are_told_with_the_nearest(tmp_path: Path) -> None:
    text = CLAIMS.replace("30 Days,contract", "30 Days,contrat")
    (tmp_path / "claims.csv").write_text(text.replace("acme,size", "acme,terms"))

    run = loaded()
    assert "1 source is in no registry and ranks below all: contrat (did you mean contract?)" in (
        run.stderr
    )
    assert "1 attribute is in no policy and decides nothing: terms (did you mean term?)" in (
        run.stderr
    )
    assert "The facts are in .pointsman/journal.db" in run.stderr
    assert "1 in no registry, below all: contrat" in facts("explain", "acme/term").stdout
    told = json.loads(loaded("claims.csv", "--json").stdout)["undeclared"]
    assert told["sources"] == [{"name": "contrat", "rows": 1, "near": "contract"}]


def test_a_mark_that_is_never_closed_costs_the_lines_that_are_named(tmp_path: Path) -> None:
    lines = CLAIMS.splitlines()
    row = 'acme,term,"30 Days,contract,2025-11-14,0.9,reader-1,'
    (tmp_path / "bad.csv").write_text("\n".join([*lines[:4], row, *lines[4:], ""]))

    run = loaded("bad.csv")
    assert run.exit_code == 1
    assert "lines 5 to 7 were taken for one row" in " ".join(run.stdout.split())
    assert "1 (of 3 lines) refused" in run.stderr
    wide = f"acme,term,{'x' * 140_000},contract,,,,"
    (tmp_path / "wide.csv").write_text("\n".join([*lines, wide, lines[1], ""]))
    (refused,) = json.loads(loaded("wide.csv", "--json").stdout)["refused"]
    assert (refused["line"], refused["code"], refused["further"]) == (7, "too_long", 0)


@pytest.mark.parametrize("name", ["kind", "evidence"])
def test_a_word_that_is_none_is_refused_by_its_own_code(name: str, tmp_path: Path) -> None:
    (tmp_path / "bad.csv").write_text(
        f"entity,attribute,value,source,{name}\nacme,term,30,contract,nope\n"
    )

    (refused,) = json.loads(loaded("bad.csv", "--json").stdout)["refused"]
    assert refused["code"] == f"bad_{name}"
    assert refused["fix"].startswith("Write one of ")


def test_claims_come_from_stdin_and_utf16_is_named(tmp_path: Path) -> None:
    run = facts("load", "-", "--policy", "policy.toml", typed=CLAIMS)
    assert run.exit_code == 0
    assert (
        facts("import", "-", "--db", "other.db", typed=facts("export", "-").stdout).exit_code == 0
    )
    assert values("--db", "other.db") == values()
    (tmp_path / "wide.csv").write_text(CLAIMS, "utf-16")
    run = loaded("wide.csv")
    assert (run.exit_code, "UTF-16" in run.stderr) == (2, True)


def test_a_journal_that_is_off_makes_no_file_of_that_name(tmp_path: Path) -> None:
    run = facts("load", "claims.csv", env={"DECISION_JOURNAL": "off"})
    assert (run.exit_code, "facts need a database" in run.stderr) == (2, True)
    assert not (tmp_path / "off").exists()


BAD = {
    "a placeholder": ("acme,price,a definir,contract,,,,c1", "not_a_value"),
    "two readings": ("acme,price,03/04/2026,contract,,,,c1", "malformed_value"),
    "no time": ('acme,price,"R$ 1,00",contract,32/13/2026,,,c1', "bad_time"),
    "too sure": ("acme,term,30,contract,,1.5,,", "bad_confidence"),
    "how sure": ("acme,term,30,contract,,very,,", "bad_confidence"),
    "no entity": (",term,30,contract,,,,", "bad_key"),
    "no source": ("acme,term,30,,,,,", "no_source"),
    "too few": ("acme,term,30", "malformed_row"),
    "too many": ("acme,term,30,contract,,,,,,", "malformed_row"),
    "a quote": ('acme,term,"30"x,contract,,,,', "malformed_row"),
}


@pytest.mark.parametrize(("row", "code"), BAD.values(), ids=BAD)
def test_a_bad_row_is_told_by_its_line_and_the_others_are_kept(
    row: str, code: str, tmp_path: Path
) -> None:
    lines = CLAIMS.splitlines()
    (tmp_path / "bad.csv").write_text("\n".join([*lines[:2], row, *lines[2:], ""]))

    run = loaded("bad.csv")
    assert run.exit_code == 1
    assert run.stdout.splitlines()[2].split()[:2] == ["3", code]
    assert run.stderr.startswith("5 assertions are new, 1 refused.\n")
    made = loaded("bad.csv", "--json")
    (refused,) = json.loads(made.stdout)["refused"]
    assert (refused["line"], refused["code"]) == (3, code)


def test_a_row_that_is_not_utf8_costs_that_row_alone(tmp_path: Path) -> None:
    (tmp_path / "bad.csv").write_bytes(CLAIMS.encode() + b"acme,term,caf\xe9,contract,,,,\n")

    run = loaded("bad.csv")
    assert run.exit_code == 1
    assert "it is not UTF-8" in run.stdout
    assert run.stderr.startswith("5 assertions are new, 1 refused.")


HEADERS = {
    "missing": ("entity,attribute,value\n", "it has no column source"),
    "misspelt": ("entity,attribute,value,source,observedat\n", "Did you mean observed_at?"),
    "twice": ("entity,attribute,value,source,Source\n", "'source' is there twice"),
    "empty": ("", "it has no column entity, attribute, value, source"),
}


@pytest.mark.parametrize(("header", "told"), HEADERS.values(), ids=HEADERS)
def test_a_wrong_header_is_told_before_anything_is_written(
    header: str, told: str, tmp_path: Path
) -> None:
    (tmp_path / "bad.csv").write_text(header)

    run = loaded("bad.csv")
    assert run.exit_code == 2
    assert told in run.stderr
    assert facts("list").stdout == ""


def test_a_file_that_is_not_there_makes_no_database(tmp_path: Path) -> None:
    for name in ("nowhere.csv", "nowhere.jsonl", "."):
        run = facts("load", name, "--db", "new.db")
        assert run.exit_code == 2
        assert run.stderr.startswith("✗ ")
    assert not (tmp_path / "new.db").exists()


def test_raw_text_that_is_another_value_is_left_out_and_counted(tmp_path: Path) -> None:
    """The value is what somebody made of it; it is not read again from what does not say so."""
    head = "entity,attribute,value,source,raw"
    rows_ = "acme,term,thirty,contract,30\nglobex,term,sixty days,contract,Sixty  DAYS\n"
    (tmp_path / "raw.csv").write_text(f"{head}\n{rows_}")

    run = loaded("raw.csv")
    assert run.exit_code == 0
    assert "! 1 raw text was left out" in run.stderr
    assert values() == {
        "acme/term": ("resolved", "thirty"),
        "globex/term": ("resolved", "Sixty  DAYS"),
    }


@pytest.mark.parametrize("mark", [";", "\t", "|"])
def test_files_of_other_programs_are_read_too(mark: str, tmp_path: Path) -> None:
    """With another sign between columns, a byte order mark, and lines as Windows ends them."""
    text = "entity,attribute,value,source\r\nacme,term,30,contract\r\n".replace(",", mark)
    (tmp_path / "other.csv").write_bytes(b"\xef\xbb\xbf" + text.encode())

    assert loaded("other.csv").stderr.startswith("1 assertion is new.")
    assert data("get", "acme/term")["value"] == "30"


def test_raw_kinds_and_times_of_a_row_are_taken_over(tmp_path: Path) -> None:
    """What a cell leaves empty is not said."""
    head = "entity,attribute,value,source,kind,evidence,valid_from,valid_to,source_ref"
    row = "acme,term,,contract,ended,explicit,2025-01-01,2026-01-01,page 7"
    (tmp_path / "more.csv").write_text(f"{head}\n{row}\n")

    loaded("more.csv")
    (entry,) = rows("history", "acme/term")
    said = entry["entry"]["assertion"]
    assert (said["kind"], said["value"], said["source_ref"]) == ("ended", None, "page 7")
    assert said["confidence"] is None
    assert said["valid_from"]["start"] < said["valid_to"]["start"]


@pytest.mark.usefixtures("_loaded")
def test_other_rules_than_those_adopted_are_no_accident(tmp_path: Path) -> None:
    (tmp_path / "policy.toml").write_text(POLICY + "[attributes.size]\n")

    run = loaded()
    assert run.exit_code == 2
    assert "policy.toml: it is version" in run.stderr
    told = "policy.toml --registry registry.toml`"
    assert f"`pointsman facts what-if {told}" in run.stderr
    assert f"`pointsman facts adopt {told}" in run.stderr
    assert loaded("claims.csv", "--adopt").exit_code == 0
    assert data("get", "acme/size")["status"] == "resolved"


# --- reading -------------------------------------------------------------------------------------


@pytest.mark.usefixtures("_loaded")
def test_a_fact_is_shown_and_what_is_not_resolved_ends_with_1() -> None:
    run = facts("get", PRICE)
    assert run.exit_code == 0
    assert run.stdout.splitlines()[:4] == [
        "acme/price?contract=c1  resolved",
        "value       BRL 100",
        "decided by  authority",
        "said by     contract",
    ]
    assert facts("get", "acme/term").exit_code == 1
    assert facts("get", "acme/size").exit_code == 1


@pytest.mark.usefixtures("_loaded")
def test_keys_are_printed_as_they_are_taken() -> None:
    keys = [one["key"] for one in rows("list")]
    assert keys == [PRICE, "acme/size", "acme/term"]
    assert [data("get", one)["key"] for one in keys] == keys
    assert [one["key"] for one in rows("list", "acme/t")] == ["acme/term"]
    assert [one["key"] for one in rows("list", "--status", "disputed")] == ["acme/term"]


@pytest.mark.usefixtures("_loaded")
def test_a_key_of_nothing_names_what_is_known_of_the_entity() -> None:
    run = facts("get", "acme/colour")
    assert run.exit_code == 1
    assert "absent (nobody says anything)" in run.stdout
    assert f"Known of it: {PRICE}, acme/size, acme/term" in run.stderr


@pytest.mark.usefixtures("_loaded")
@pytest.mark.parametrize("key", ["acme", "acme/", "/price", "acme/price?c1"])
def test_what_is_no_key_is_told_as_such(key: str) -> None:
    run = facts("get", key)
    assert run.exit_code == 2
    assert "KEY: " in run.stderr


@pytest.mark.usefixtures("_loaded")
def test_explain_says_why_in_a_sentence_and_a_table() -> None:
    """RF-63."""
    run = facts("explain", PRICE)
    assert run.exit_code == 0
    assert run.stdout.startswith(
        'acme/price?contract=c1 is "BRL 100", by authority: contract, over whatsapp (chat), '
        'which says "BRL 90"; others say otherwise (1 voice).\n'
    )
    lines = [line.split() for line in run.stdout.splitlines()]
    assert ["✓", "BRL", "100", "contract", "(signed)", "explicit", "0.90", "2025-11-14"] in lines
    assert [
        "✗",
        *["BRL", "90", "whatsapp", "(chat)", "explicit", "0.95", "2025-11-20", "authority"],
    ] in lines
    assert facts("explain", PRICE).stdout == run.stdout
    assert facts("explain", PRICE, "--language", "pt").stdout.startswith(
        'acme/price?contract=c1 é "BRL 100", por autoridade: contract'
    )


@pytest.mark.usefixtures("_loaded")
def test_explain_gives_programs_the_same_with_ids() -> None:
    found = data("explain", "acme/term")
    assert (found["status"], found["reason"]) == ("disputed", "tie")
    assert found["sentences"]["en"].startswith("acme/term is disputed (tie): ")
    assert {one["value"] for one in found["candidates"]} == {"30 Days", "45 Days"}
    assert found["dispute"] == dispute()["id"]


@pytest.mark.usefixtures("_loaded")
def test_what_was_known_then_is_told_as_it_was_then() -> None:
    assert data("get", PRICE, "--known-at", "2020-01-01")["status"] in ("absent", "unreconciled")
    assert data("get", PRICE, "--valid-at", "2025-11-14")["status"] == "resolved"
    run = facts("get", PRICE, "--valid-at", "some day")
    assert run.exit_code == 1
    assert "bad_time" in run.stderr


# --- disputes ------------------------------------------------------------------------------------


@pytest.mark.usefixtures("_loaded")
def test_a_dispute_is_listed_and_resolved_by_its_value() -> None:
    found = dispute()

    listed = facts("disputes")
    assert listed.stdout.startswith("acme/term  open (tie)\n")
    assert found["id"] in listed.stdout
    assert "30 Days, said by contract" in listed.stdout
    run = facts("resolve", found["id"][:6], "--choose", "45 Days", "--by", "maria", *WHY)
    assert run.exit_code == 0
    assert run.stdout == '✓ acme/term: "45 Days" (by resolution of a dispute; addendum)\n'
    assert "receipt " in run.stderr
    assert data("get", "acme/term")["value"] == "45 Days"
    assert facts("disputes").stderr == "Nothing is in dispute.\n"
    assert [one["state"] for one in rows("disputes", "--all")] == ["resolved"]


@pytest.mark.usefixtures("_loaded")
def test_a_resolution_can_be_taken_back() -> None:
    id_ = dispute()["id"]
    facts("resolve", id_, "--choose", "45 Days", "--by", "maria", *WHY)

    assert facts("withdraw", id_, "--reason", "a mistake").exit_code == 0
    assert data("get", "acme/term")["status"] == "disputed"
    assert len(rows("history", "acme/term")) == 4  # two assertions, the receipt, its withdrawal


@pytest.mark.usefixtures("_loaded")
def test_another_value_needs_a_source() -> None:
    id_ = dispute()["id"]

    bare = facts("resolve", id_, "--value", "60 days", *WHY)
    assert (bare.exit_code, "--value" in bare.stderr) == (2, True)
    both = facts("resolve", id_, "--value", "60", "--source", "erp", "--choose", "30 Days", *WHY)
    assert (both.exit_code, "--choose" in both.stderr) == (2, True)
    args = ("--value", "60 days", "--source", "whatsapp", "--by", "maria", "--reason", "phone")
    assert facts("resolve", id_, *args).exit_code == 0
    assert data("get", "acme/term")["value"] == "60 days"


WRONG = {
    "no such dispute": (("ffff", "--choose", "30 Days"), 1, "no_dispute"),
    "no such candidate": (("{id}", "--choose", "31 Days"), 2, "none of the candidates"),
    "its own candidate": (
        ("{id}", "--choose", "30 Days", "--by", "reader-1"),
        1,
        "own_candidate",
    ),
}


@pytest.mark.usefixtures("_loaded")
@pytest.mark.parametrize(("args", "code", "told"), WRONG.values(), ids=WRONG)
def test_what_cannot_be_resolved_so_is_told_and_changes_nothing(
    args: tuple[str, ...], code: int, told: str
) -> None:
    before = dispute()

    run = facts("resolve", *(one.format(id=before["id"]) for one in args), *WHY)
    assert run.exit_code == code
    assert told in run.stderr
    assert dispute() == before


@pytest.mark.usefixtures("_loaded")
def test_a_dispute_is_taken_and_put_aside() -> None:
    id_ = dispute()["id"]

    taken = facts("assign", id_, "--to", "ana")
    assert taken.exit_code == 0
    assert f"{id_} is ana, until" in taken.stdout
    with FactStore(Path(".pointsman/journal.db")) as store:
        store.disputes.release(id_, "ana")
    told = facts("history", "acme/term").stdout
    assert f"takes {id_[:12]} until" in told
    assert f"gives back {id_[:12]}" in told
    assert facts("dismiss", id_, "--reason", "two contracts", "--by", "ana").exit_code == 0
    assert [one["state"] for one in rows("disputes", "--all")] == ["dismissed"]


# --- other rules ---------------------------------------------------------------------------------


@pytest.mark.usefixtures("_loaded")
def test_what_if_shows_before_and_after_and_writes_nothing(tmp_path: Path) -> None:
    """RF-70."""
    (tmp_path / "policy2.toml").write_text(
        POLICY.replace('change = "over_time"', 'change = "over_time"\nkeys = ["recency"]')
    )

    run = facts("what-if", "policy2.toml")
    assert run.exit_code == 0
    lines = [line.split() for line in run.stdout.splitlines()]
    assert [PRICE, "BRL", "100", "BRL", "90", "recency"] in lines
    assert ["resolved", "→", "resolved:", "1"] in lines
    assert data("get", PRICE)["outcome"]["decided_by"] == "authority"
    found = data("what-if", "policy2.toml")
    assert (found["facts"], found["changed"]) == (3, 1)
    assert found["rows"][0]["key"] == PRICE
    adopted = facts("adopt", "policy2.toml", "--by", "maria")
    assert adopted.exit_code == 0
    assert data("get", PRICE)["outcome"]["decided_by"] == "recency"


@pytest.mark.usefixtures("_loaded")
def test_a_faulty_policy_is_told_with_its_place(tmp_path: Path) -> None:
    (tmp_path / "policy2.toml").write_text(POLICY.replace("money", "monney"))

    run = facts("what-if", "policy2.toml")
    assert run.exit_code == 2
    assert "policy2.toml" in run.stderr
    assert "money" in run.stderr


# --- the log -------------------------------------------------------------------------------------


@pytest.mark.usefixtures("_loaded")
def test_a_word_is_taken_back_only_by_who_may() -> None:
    (first, *_) = rows("history", PRICE)

    refused = facts("retract", first["id"], "--reason", "wrong file", "--by", "zoe")
    assert (refused.exit_code, "not_allowed" in refused.stderr) == (1, True)
    assert facts("retract", first["id"], "--reason", "x", "--by", "contract").exit_code == 0
    assert data("explain", PRICE)["value"] == "BRL 90"
    history = facts("history", PRICE)
    assert "says R$ 100,00" in history.stdout or "says BRL 100" in history.stdout
    assert f"takes back {first['id'][:12]}: x" in history.stdout


@pytest.mark.usefixtures("_loaded")
def test_a_source_is_left_out_and_comes_back() -> None:
    run = facts("quarantine", "--source", "contract", "--reason", "forged", "--by", "maria")
    assert run.exit_code == 0
    assert data("get", "acme/term")["value"] == "45 Days"
    id_ = run.stderr.split("lift ")[1].split("`")[0]
    assert facts("lift", id_, "--by", "maria").exit_code == 0
    assert data("get", "acme/term")["status"] == "disputed"
    assert facts("quarantine", "--reason", "nobody").exit_code == 2


@pytest.mark.usefixtures("_loaded")
def test_what_a_quarantine_would_move_is_shown_before() -> None:
    """RF-22."""
    before = values()

    run = facts("quarantine", "--source", "contract", "--dry-run")
    lines = [line.split() for line in run.stdout.splitlines()]
    assert [PRICE, "BRL", "100", "BRL", "90", "unanimous"] in lines
    assert values() == before
    made = facts("quarantine", "--source", "contract").stderr
    id_ = made.split("lift ")[1].split("`")[0]
    lines = [line.split() for line in facts("lift", id_, "--dry-run").stdout.splitlines()]
    assert [PRICE, "BRL", "90", "BRL", "100", "authority"] in lines
    assert values() != before


@pytest.mark.usefixtures("_loaded")
def test_an_entry_is_meant_by_how_its_id_begins() -> None:
    (first, *_) = rows("history", PRICE)

    for begun, told in (("fff", "too few"), ("ffffffff", "`pointsman facts history KEY`")):
        run = facts("retract", begun, "--reason", "x", "--by", "contract")
        assert (run.exit_code, told in run.stderr) == (1, True)
    run = facts("retract", first["id"][:8].upper(), "--reason", "x", "--by", "contract", "--json")
    assert json.loads(run.stdout)["new"] is True
    assert data("get", PRICE)["value"]["amount"] in (90, "90")


@pytest.mark.usefixtures("_loaded")
def test_what_a_quarantine_leaves_out_is_told_wherever_a_fact_is_read() -> None:
    """RF-22."""
    made = json.loads(facts("quarantine", "--source", "contract", "--by", "maria", "--json").stdout)

    for args in (("get", PRICE), ("explain", PRICE), ("list",)):
        assert "1 left out by quarantine" in facts(*args).stdout
    assert "1 left out by quarantine: contract" in facts("explain", PRICE).stdout
    assert "quarantines contract" in facts("history", PRICE).stdout
    assert "quarantines contract" not in facts("history", "acme/size").stdout
    assert "BRL 100 → BRL 90  by quarantine" in facts("events", "-n", "100").stdout
    (listed,) = rows("quarantines")
    assert (listed["id"], listed["lifted"]) == (made["id"], False)
    assert facts("lift", made["id"][:6], "--by", "maria").exit_code == 0
    assert "lifted" in facts("quarantines").stdout
    assert "left out" not in facts("get", PRICE).stdout


@pytest.mark.usefixtures("_loaded")
def test_a_quarantine_of_nothing_is_no_accident() -> None:
    empty = ("--since", "2026-02-01", "--until", "2026-01-01")
    run = facts("quarantine", "--source", "contract", *empty)
    assert (run.exit_code, "bad_interval" in run.stderr) == (1, True)
    near = facts("quarantine", "--source", "contrat", "--dry-run")
    assert "no source is called contrat yet: did you mean contract?" in near.stderr
    near = facts("quarantine", "--writer", "reader1", "--dry-run")
    assert "did you mean reader-1?" in near.stderr
    assert "called" not in facts("quarantine", "--writer", "reader-1", "--dry-run").stderr


@pytest.mark.usefixtures("_loaded")
def test_an_alias_of_itself_or_of_nobody_is_told() -> None:
    assert facts("alias", "Acme", "acme").exit_code == 1
    run = facts("alias", "acmee", "acme")
    assert "nothing was ever said of acmee: did you mean acme?" in run.stderr
    assert "They were one entity before; acme stands for both" in (
        facts("alias", "acme", "acmee").stderr
    )


@pytest.mark.usefixtures("_loaded")
def test_adopting_the_same_adds_nothing(tmp_path: Path) -> None:
    before = facts("export", "-").stdout
    run = facts("adopt", "policy.toml", "--registry", "registry.toml")
    assert (run.exit_code, "adopted already" in run.stdout) == (0, True)
    assert facts("export", "-").stdout == before
    (tmp_path / "empty.toml").write_text("schema = 1\n")
    run = facts("adopt", "empty.toml", "--json")
    assert json.loads(run.stdout)["new"] is True
    assert "declares no attribute" in run.stderr


def test_a_half_that_was_never_given_is_adopted_when_it_comes() -> None:
    assert facts("load", "claims.csv", "--policy", "policy.toml").exit_code == 0
    assert facts("load", "claims.csv", "--registry", "registry.toml").exit_code == 0
    assert data("get", PRICE)["outcome"]["decided_by"] == "authority"
    assert facts("load", "claims.csv").exit_code == 0


@pytest.mark.usefixtures("_loaded")
def test_times_in_json_are_iso_text_everywhere() -> None:
    found = data("get", PRICE)
    (first, *_) = rows("history", PRICE)
    said = first["entry"]["assertion"]["observed_at"]
    assert said == {"start": "2025-11-14T00:00:00Z", "end": "2025-11-15T00:00:00Z"}
    times = [found["valid_at"], found["known_at"], first["recorded_at"], rows("events")[0]["at"]]
    times.append(dispute()["opened_at"])
    assert all(re.fullmatch(r"\d{4}-\d\d-\d\dT[\d:.]+Z", one) for one in times)
    assert dispute()["until"] is None


@pytest.mark.usefixtures("_loaded")
def test_both_sides_of_a_dispute_are_marked_as_open() -> None:
    assert "✓" not in facts("explain", "acme/term").stdout
    assert "?   30 Days" in facts("explain", "acme/term").stdout


@pytest.mark.usefixtures("_loaded")
def test_what_is_erased_is_asked_about_first() -> None:
    (first, *_) = rows("history", PRICE)
    args = ("erase", first["id"], "--reason", "privacy", "--by", "maria")

    assert facts(*args, typed="n\n").exit_code == 1
    assert data("get", PRICE)["status"] == "resolved"
    assert facts(*args, "--yes").exit_code == 0
    assert "100" not in facts("explain", PRICE, "--json").stdout


@pytest.mark.usefixtures("_loaded")
def test_two_names_are_one_entity() -> None:
    assert facts("alias", "ACME Ltd", "acme").exit_code == 0
    assert data("get", "acme ltd/size")["status"] == "unreconciled"


@pytest.mark.usefixtures("_loaded")
def test_what_happened_is_told_in_order_and_page_by_page() -> None:
    kinds = [one["kind"] for one in rows("events", "-n", "100")]
    assert kinds[0] == "policy_changed"
    assert kinds.index("conflict_detected") < kinds.index("disputed")
    page = facts("events", "-n", "3")
    assert len(page.stdout.splitlines()) == 3
    after = page.stderr.split("--after ")[1].removesuffix(" goes on.\n").strip("'")
    assert [one["kind"] for one in rows("events", "-n", "100", "--after", after)] == kinds[3:]


@pytest.mark.usefixtures("_loaded")
def test_an_export_is_another_store(tmp_path: Path) -> None:
    assert facts("export", "all.jsonl").stderr.startswith("7 lines")
    assert facts("export", "-").stdout == (tmp_path / "all.jsonl").read_text()
    assert facts("import", "all.jsonl", "--db", "other.db").stderr.startswith("6 entries are new")
    assert values("--db", "other.db") == values()
    again = facts("load", "all.jsonl", "--db", "other.db")
    assert again.stderr.startswith("0 entries are new, 6 were there already")
    assert facts("verify", "--db", "other.db").stdout.startswith("✓ 3 facts from 6 entries")


@pytest.mark.parametrize("text", ["not json\n", '{"a": 1}\n', "\xff\n"])
def test_what_is_no_export_is_told_without_a_traceback(text: str, tmp_path: Path) -> None:
    (tmp_path / "bad.jsonl").write_text(text)

    run = facts("import", "bad.jsonl")
    assert run.exit_code in (1, 2)
    assert run.stderr.startswith("✗ ")
    assert facts("import", "nowhere.jsonl").exit_code == 2


@pytest.mark.usefixtures("_loaded")
def test_audit_counts_what_persons_decided() -> None:
    assert "nothing can be said of sources" in facts("audit").stderr
    facts("resolve", dispute()["id"], "--choose", "45 Days", "--by", "maria", *WHY)

    lines = [line.split()[:5] for line in facts("audit").stdout.splitlines()]
    assert ["term", "addendum", "1", "1", "100.0"] in lines
    assert ["term", "contract", "0", "1", "0.0"] in lines
    lines = [line.split()[:5] for line in facts("audit", "--writers").stdout.splitlines()]
    assert ["term", "addendum", "reader-2", "1", "1"] in lines
    assert data("audit")["resolutions"] == 1


@pytest.mark.usefixtures("_loaded")
def test_what_rests_on_a_fact_is_listed() -> None:
    assert facts("impact", PRICE).stderr == "Nothing is known to rest on it.\n"
    with FactStore(Path(".pointsman/journal.db")) as store:
        store.get("acme", "price", qualifiers={"contract": "c1"}, decision="d" * 32)

    run = facts("impact", PRICE)
    assert ["decision", "d" * 32] in [line.split()[:2] for line in run.stdout.splitlines()]


# --- whose facts, where --------------------------------------------------------------------------


@pytest.mark.usefixtures("_loaded")
def test_namespaces_are_apart() -> None:
    """RF-79."""
    assert loaded("claims.csv", "--namespace", "other").stderr.startswith("5 assertions are new")
    env = {"FACTS_NAMESPACE": "other"}
    id_ = json.loads(facts("disputes", "--json", env=env).stdout)["id"]
    assert (
        facts("resolve", id_, "--choose", "30 Days", "--by", "maria", *WHY, env=env).exit_code == 0
    )
    assert data("get", "acme/term")["status"] == "disputed"


def test_a_misspelt_variable_is_named() -> None:
    run = facts("list", env={"FACTS_NAMESPAC": "other"})

    assert run.exit_code == 2
    assert "Did you mean FACTS_NAMESPACE?" in run.stderr


def test_the_variables_of_a_file_count() -> None:
    loaded("claims.csv", "--db", "here.db")
    Path("vars.env").write_text("DECISION_JOURNAL=sqlite:///here.db\n")

    run = CliRunner().invoke(app, ["--env-file", "vars.env", "facts", "list"])
    assert run.exit_code == 0
    assert PRICE in run.stdout


# --- RF-81: what others wrote ---------------------------------------------------------------------

HOSTILE = "[bold red]x[/] \x1b[31mred\x1b[0m :boom: \u200f"


@pytest.mark.parametrize("width", ["60", "200"])
def test_nothing_that_others_wrote_reaches_the_terminal_as_more_than_text(
    width: str, tmp_path: Path
) -> None:
    """RF-81: no markup, colour or direction, in whatever command."""
    head = "entity,attribute,value,source,confidence,source_ref"
    line = f'acme,term,"[bold red]x[/] :boom: a\u200fb","[red]crm[/]",0.9,"{HOSTILE}"'
    (tmp_path / "bad.csv").write_text(f"{head}\n{line}\n", "utf-8")
    env = {"COLUMNS": width}
    assert loaded("bad.csv").stderr.startswith("1 assertion is new")

    for args in (
        *(("explain", "acme/term"), ("get", "acme/term"), ("history", "acme/term"), ("list",)),
        *(("disputes",), ("events",), ("explain", "acme/term", "--json"), ("disputes", "--json")),
        *(("history", "acme/term", "--json"), ("export", "-")),
    ):
        shown = facts(*args, env=env)
        assert "\x1b" not in shown.output
        assert "\u200f" not in shown.output
        assert "Traceback" not in shown.output
    assert "[bold red]x[/] :boom:" in facts("history", "acme/term").stdout


# --- as a process ---------------------------------------------------------------------------------

WITHOUT = "import sys; sys.modules['{name}'] = None; from pointsman.gateway.cli import main; main()"


def process(*args: str, **variables: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, *args], env=clean(variables), capture_output=True, text=True, check=False
    )


def test_without_the_extra_the_command_names_it_and_others_run() -> None:
    run = process("-c", WITHOUT.format(name="sqlalchemy"), "facts", "list")
    assert run.returncode == 2
    assert 'pip install "pointsman[cli,facts]"' in run.stderr
    assert "Traceback" not in run.stderr
    assert process("-c", WITHOUT.format(name="sqlalchemy"), "--help").returncode == 0


@pytest.mark.usefixtures("_loaded")
def test_a_long_list_into_a_closed_pipe_is_no_traceback() -> None:
    command = f"{sys.executable} -m pointsman facts events --json | head -n 1"

    run = subprocess.run(
        ["/bin/sh", "-c", command],
        env=clean({}),
        capture_output=True,
        text=True,
        check=False,
    )
    assert json.loads(run.stdout)["kind"] == "policy_changed"
    assert "Traceback" not in run.stderr


def test_a_load_that_is_broken_off_says_what_is_kept(tmp_path: Path) -> None:
    args = (sys.executable, "-m", "pointsman", "facts", "load", "-", "--db", "long.db")
    given = "entity,attribute,value,source\n" + "".join(
        f"e{number},term,{number} days,contract\n" for number in range(3000)
    )
    with subprocess.Popen(
        args, env=clean({}), stdin=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as run:
        assert run.stdin is not None
        run.stdin.write(given)
        run.stdin.flush()
        _wait_for_facts(tmp_path / "long.db", run)
        run.send_signal(signal.SIGINT)
        _, told = run.communicate()

    assert run.returncode == 130
    assert re.search(r"stopped: \d[\d,]* rows are dealt with and kept\.", told)
    assert "The same command goes on" in told
    assert "Traceback" not in told


def _wait_for_facts(file: Path, run: subprocess.Popen[str]) -> None:
    """Look until the process has written some; it may have ended by a fault instead."""
    with FactStore(file) as store:
        while run.poll() is None and (store.missing or not store.counts()):
            pass


PACKAGE = Path(pointsman.decision_points.facts.__file__).parent
PAGE = Path(__file__).parent.parent / "docs" / "facts.md"


def test_every_refusal_stands_in_the_page_and_the_page_names_no_other() -> None:
    sources = [path.read_text("utf-8") for path in PACKAGE.rglob("*.py")]
    raised = {code for text in sources for code in re.findall(r'Refused\(\s*"(\w+)"', text)}
    raised |= set(re.findall(r'MALFORMED = "(\w+)"', "".join(sources)))
    table = PAGE.read_text("utf-8").partition("## What is refused")[2].partition("\n## ")[0]

    named = re.findall(r"`(\w+)`", "".join(re.findall(r"^\| (.*?) \|", table, re.MULTILINE)))
    assert sorted(named) == sorted(raised)


def test_every_command_stands_in_the_page() -> None:
    page = PAGE.read_text("utf-8")
    assert all(f"`{name}`" in page for name in COMMANDS)

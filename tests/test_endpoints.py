"""The table of endpoints: which row a base URL means, what a vendor wants, what fails at start."""

from __future__ import annotations

import itertools
import logging
import re
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dialects import HTML, VENDORS, Vendor
from faulty import ASK, Server, failed, replies
from pointsman import Ask, Choice, Gateway, Reason, Record, SetupError, Usage
from pointsman.gateway.remote import is_loopback, is_served_as_asked
from pointsman.providers import HOSTED
from pointsman.providers.decisions_api import ENDPOINTS, DecisionsApi
from pointsman.providers.decisions_api.prices import MODELS, known, priced
from pointsman.providers.decisions_api.provider import identifier
from pointsman.providers.decisions_api.reaching import Elsewhere, own_row, reached

NEEDED = {
    "jev": {"AI_GATEWAY_API_KEY": "zq7-key"},
    "clef": {"CLOUDFLARE_API_TOKEN": "zq7-key", "CLOUDFLARE_ACCOUNT_ID": "acc0"},
    "portkey": {"PORTKEY_API_KEY": "zq7-key", "PORTKEY_PROVIDER_KEY": "zq7-key"},
    "litellm": {"LITELLM_BASE_URL": "http://127.0.0.1:4000", "LITELLM_MODEL": "fast"},
    "decisions": {"DECISIONS_BASE_URL": "http://127.0.0.1:9/v1"},
    "systemone": {"SYSTEMONE_BASE_URL": "http://127.0.0.1:9/v1"},
    **{
        name: {f"{name.upper()}_API_KEY": "zq7-key"}
        for name in ("openai", "typesafe", "openrouter", "perplexity")
    },
}
Make = Callable[..., Gateway]


@pytest.fixture
def made(gateway_of: Make) -> Callable[..., DecisionsApi]:
    """Make one provider from what it needs and some variables more."""

    def make(name: str, **environ: str) -> DecisionsApi:
        needed = NEEDED[name.partition("/")[0]]
        gateway = gateway_of({"DECISION_PROVIDER": name, **needed, **environ})
        provider: Any = gateway.provider(name)
        assert isinstance(provider, DecisionsApi)
        return provider

    return make


def faults(gateway_of: Make, environ: dict[str, str]) -> list[str]:
    with pytest.raises(SetupError) as caught:
        gateway_of(environ)
    return [fault.where for fault in caught.value.faults]


# --- the table ---------------------------------------------------------------------------


def test_every_row_has_a_name_that_can_be_selected() -> None:
    assert {row.provider for row in ENDPOINTS} == set(HOSTED) == set(NEEDED)


def test_every_row_is_met_by_the_contract_suite() -> None:
    """A row that no server speaks would rot."""
    assert {own_row(one.provider).provider for one in VENDORS} == set(HOSTED)
    assert len(VENDORS) == len(ENDPOINTS)


def test_host_and_path_are_a_key() -> None:
    """No address has two rows; the same path alone says nothing."""
    known_rows = [row for row in ENDPOINTS if row.host]
    keys = [(row.host, row.path) for row in known_rows]
    assert len(set(keys)) == len(keys)
    dialects = {row.dialect for row in known_rows if row.path == "/v1/decisions"}
    assert dialects == {"openai", "systemone"}


@pytest.mark.parametrize("name", HOSTED)
def test_a_provider_is_made_from_what_it_needs(
    made: Callable[..., DecisionsApi], name: str
) -> None:
    """And it opens nothing, and shows no key."""
    provider = made(name)

    assert provider.name == name
    assert (provider.timeout, provider.attempts) == (15, 2)
    assert provider.limits.options == 255
    assert provider.limits.levels == 10
    assert "zq7" not in repr(provider) + repr(vars(provider))


@pytest.mark.parametrize("name", HOSTED)
def test_what_is_missing_is_named_at_start(gateway_of: Make, name: str) -> None:
    """A missing key must not be hidden by the fallback."""
    for left_out in NEEDED[name]:
        rest = {one: text for one, text in NEEDED[name].items() if one != left_out}
        assert faults(gateway_of, {"DECISION_PROVIDER": name, **rest}) == [left_out]


def test_a_key_in_the_environment_selects_nobody(gateway_of: Make) -> None:
    every = {name: text for needed in NEEDED.values() for name, text in needed.items()}

    decision = gateway_of(every).ask_sync("TEAM", ASK, current=lambda: "billing")

    assert (decision.provider, len(decision.attempts)) == ("current", 1)


# --- which row a base URL means ----------------------------------------------------------

REACHED = [
    ("jev", None, "https://ai-gateway.vercel.sh/v1/decisions"),
    ("jev", "https://ai-gateway.vercel.sh", "https://ai-gateway.vercel.sh/v1/decisions"),
    ("jev", "https://AI-Gateway.vercel.sh/v1/", "https://AI-Gateway.vercel.sh/v1/decisions"),
    ("jev", "https://proxy.test/a/v1", "https://proxy.test/a/v1/decisions"),
    ("jev", "https://proxy.test", "https://proxy.test/v1/decisions"),
    ("jev", "https://proxy.test/x/decisions", "https://proxy.test/x/decisions"),
    ("openai", "http://127.0.0.1:8000/v1", "http://127.0.0.1:8000/v1/decisions"),
    ("typesafe", None, "https://api.typesafe.ai/v1/systemone"),
    ("typesafe", "https://api.typesafe.ai", "https://api.typesafe.ai/v1/systemone"),
    ("openrouter", None, "https://openrouter.ai/api/alpha/decisions"),
    ("openrouter", "https://openrouter.ai/api/v1", "https://openrouter.ai/api/v1/systemone"),
    ("portkey", "https://aigw.portkey.ai/v1", "https://aigw.portkey.ai/v1/decisions"),
    (
        "systemone",
        "https://ai-gateway.vercel.sh/typesafe",
        "https://ai-gateway.vercel.sh/typesafe/v1/systemone",
    ),
    ("systemone", "https://api.perplexity.ai", "https://api.perplexity.ai/v1/decisions"),
    ("systemone", "https://api-gateway.merge.dev/v1", "https://api-gateway.merge.dev/v1/decisions"),
    (
        "systemone",
        "https://us.services.ai.azure.com",
        "https://us.services.ai.azure.com/providers/microsoft/v1/systemone",
    ),
    ("systemone", "http://localhost:11434/v1", "http://localhost:11434/v1/systemone"),
    ("decisions", "https://api.openai.com/v2", "https://api.openai.com/v2/decisions"),
    ("litellm", "http://litellm:4000", "http://litellm:4000/v1/decisions"),
]


@pytest.mark.parametrize(("provider", "base", "url"), REACHED)
def test_a_base_url_may_end_anywhere_before_or_in_the_path(
    provider: str, base: str | None, url: str
) -> None:
    """Vendors' own clients cut it in different places; whoever knows the host knows the rest."""
    assert reached(own_row(provider), base).url == url


@pytest.mark.parametrize("row", [one for one in ENDPOINTS if one.host], ids=lambda one: one.path)
def test_a_known_address_has_its_own_row(row: Any) -> None:
    """Its limits, routing and safety identifier hold, whoever is sent there."""
    own = own_row(row.provider)
    url = f"https://{row.host.replace('*', 'ours')}{row.path}"

    assert reached(own, url).row is row


WRONG = [
    ("openai", "https://api.portkey.ai/v1", "portkey", "TypeSafe"),
    ("litellm", "https://api.perplexity.ai/v1", "perplexity", "TypeSafe"),
    ("jev", "https://ai-gateway.vercel.sh/typesafe/v1", "systemone", "TypeSafe"),
    ("decisions", "https://openrouter.ai/api/v1", "openrouter", "TypeSafe"),
    ("systemone", "https://api.openai.com/v1", "openai", "OpenAI"),
    ("perplexity", "https://api.openai.com", "openai", "OpenAI"),
]


@pytest.mark.parametrize(("name", "base", "instead", "dialect"), WRONG)
def test_a_base_url_of_another_dialect_is_a_start_error(
    gateway_of: Make, name: str, base: str, instead: str, dialect: str
) -> None:
    """protocols §1: the path does not tell the dialect; the operator is told who speaks it."""
    variable = f"{name.upper()}_BASE_URL"
    environ = {"DECISION_PROVIDER": name, **NEEDED[name], variable: base}

    with pytest.raises(SetupError) as caught:
        gateway_of(environ)

    (fault,) = caught.value.faults
    assert fault.where == variable
    assert f"{dialect} dialect" in fault.problem
    assert f"Select `{instead}`" in fault.fix


def test_an_address_that_wants_two_keys_is_no_place_for_one(gateway_of: Make) -> None:
    environ = {
        "DECISION_PROVIDER": "systemone",
        "SYSTEMONE_BASE_URL": "https://api.portkey.ai/v1",
        "SYSTEMONE_API_KEY": "key",
    }

    with pytest.raises(SetupError, match=r"wants variables of its own\. Select `portkey`"):
        gateway_of(environ)


def test_a_known_vendor_is_never_asked_without_a_key(gateway_of: Make) -> None:
    environ = {"DECISION_PROVIDER": "systemone", "SYSTEMONE_BASE_URL": "https://api.typesafe.ai"}

    assert faults(gateway_of, environ) == ["SYSTEMONE_API_KEY"]


# --- which model is asked for where none is named ----------------------------------------


@pytest.mark.parametrize(
    ("name", "base", "model"),
    [
        ("systemone", "https://api.typesafe.ai", "jev-1.13.0"),
        ("systemone", "https://api.perplexity.ai", "pplx-decider-v1.2"),
        ("systemone", "https://openrouter.ai/api/v1", "typesafe/jev-1.13"),
        ("decisions", "https://api.openai.com", "gpt-6-luna"),
        ("decisions", "https://ai-gateway.vercel.sh", "typesafe-ai/jev"),
        ("openrouter", "https://openrouter.ai/api/v1", "typesafe/jev-1.13"),
        ("typesafe", "https://ai-gateway.vercel.sh/typesafe", "jev-1.13.0"),
        ("systemone", "https://us.services.ai.azure.com", ""),  # names there are made up
    ],
)
def test_a_known_address_has_a_model_of_its_own(
    made: Callable[..., DecisionsApi], name: str, base: str, model: str
) -> None:
    """protocols §14.3: an answer is compared with what was asked for, so something must be."""
    prefix = name.upper()
    provider = made(name, **{f"{prefix}_BASE_URL": base, f"{prefix}_API_KEY": "key"})

    assert provider.model == model
    named = made(
        name,
        **{f"{prefix}_BASE_URL": base, f"{prefix}_API_KEY": "key", f"{prefix}_MODEL": "ours"},
    )
    assert named.model == "ours"


@pytest.mark.parametrize(
    "base", ["https://ai-gateway.vercel.sh/typesafe", "https://api-gateway.merge.dev/v1"]
)
def test_a_model_is_needed_where_no_default_is_known(gateway_of: Make, base: str) -> None:
    """Else every answer would be paid for, and none believed."""
    environ = {
        "DECISION_PROVIDER": "systemone",
        "SYSTEMONE_BASE_URL": base,
        "SYSTEMONE_API_KEY": "key",
    }

    assert faults(gateway_of, environ) == ["SYSTEMONE_MODEL"]
    named = gateway_of({**environ, "SYSTEMONE_MODEL": "typesafe-ai/jev"})
    assert named.provider("systemone").name == "systemone"


@given(
    st.sampled_from(HOSTED),
    st.sampled_from([one.host.replace("*", "x") for one in ENDPOINTS if one.host] + ["a.test"]),
    st.sampled_from(["", "/", "/v1", "/v1/", "/api", "/api/v1/systemone", "/typesafe", "/v9/x"]),
)
def test_whatever_is_reached_is_spoken_to_as_its_row_says(
    provider: str, host: str, path: str
) -> None:
    """Law: the dialect is that of the address where it is known, else the provider's own."""
    own = own_row(provider)
    try:
        there = reached(own, f"https://{host}{path}")
    except Elsewhere:
        assert any(row.stands_at(host) for row in ENDPOINTS)
        return
    assert there.row.dialect == own.dialect
    assert there.url.startswith(f"https://{host}/")
    at = there.url.removeprefix(f"https://{host}")
    covering = [row for row in ENDPOINTS if row.stands_at(host) and row.covers(at)]
    assert there.row in covering or (not covering and there.row is own)


# --- keys --------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["jev", "openai", "litellm", "systemone"])
def test_a_key_does_not_go_to_another_machine_in_the_clear(gateway_of: Make, name: str) -> None:
    prefix = name.upper()
    environ = {
        "DECISION_PROVIDER": name,
        **NEEDED[name],
        f"{prefix}_API_KEY": "key",
        f"{prefix}_BASE_URL": "http://gateway.corp/v1",
    }

    assert faults(gateway_of, environ) == [f"{prefix}_BASE_URL"]
    assert gateway_of({**environ, f"{prefix}_ALLOW_HTTP": "true"}).provider(name).name == name


def test_without_a_key_there_is_nothing_to_protect(made: Callable[..., DecisionsApi]) -> None:
    provider = made("systemone", SYSTEMONE_BASE_URL="http://ollama:11434/v1")

    assert provider.name == "systemone"


@pytest.mark.parametrize(
    ("host", "expected"),
    [
        ("localhost", True),
        ("api.localhost", True),
        ("127.0.0.1", True),
        ("127.9.9.9", True),
        ("::1", True),
        ("192.168.0.1", False),
        ("10.0.0.1", False),
        ("localhost.test", False),
        ("127.0.0.1.test", False),
        ("", False),
    ],
)
def test_loopback_is_this_machine_alone(host: str, *, expected: bool) -> None:
    assert is_loopback(host) is expected


def test_no_key_means_no_header(server: Server, gateway_of: Make) -> None:
    """protocols §13: an empty `Bearer ` is worse than none for local servers."""
    gateway = gateway_of({"DECISION_PROVIDER": "decisions", "DECISIONS_BASE_URL": server.url})

    gateway.ask_sync("TEAM", ASK, current=lambda: "billing")

    assert "authorization" not in server.seen[0].headers


def test_portkey_needs_no_vendors_key_that_it_keeps_itself(
    server: Server, gateway_of: Make
) -> None:
    environ = {
        "DECISION_PROVIDER": "portkey",
        "PORTKEY_API_KEY": "key",
        "PORTKEY_BASE_URL": server.url,
        "PORTKEY_PROVIDER": "@ours",
    }

    gateway_of(environ).ask_sync("TEAM", ASK, current=lambda: "billing")

    headers = server.seen[0].headers
    assert (headers["x-portkey-provider"], headers["x-portkey-api-key"]) == ("@ours", "key")
    assert "authorization" not in headers


@pytest.mark.parametrize("key", ["zq7 key", "zq7\nkey", "zq7-k€y"])
def test_a_key_that_no_header_takes_is_told_in_whole_sentences(gateway_of: Make, key: str) -> None:
    with pytest.raises(SetupError) as caught:
        gateway_of({"DECISION_PROVIDER": "openai", "OPENAI_API_KEY": key})

    said = str(caught.value)
    assert "copied whole. Correct it" in said
    assert "zq7" not in said


@pytest.mark.parametrize("account", ["a/b", "é", "", " ", "a b"])
def test_an_account_that_would_change_the_path_is_refused(gateway_of: Make, account: str) -> None:
    environ = {"DECISION_PROVIDER": "clef", **NEEDED["clef"], "CLOUDFLARE_ACCOUNT_ID": account}

    assert faults(gateway_of, environ) == ["CLOUDFLARE_ACCOUNT_ID"]


# --- names -------------------------------------------------------------------------------


def test_instances_have_their_own_variables(server: Server, gateway_of: Make) -> None:
    """`systemone/eu` reads `SYSTEMONE__EU__…` first, then what all share."""
    gateway = gateway_of(
        {
            "DECISION_PROVIDER": "systemone/eu",
            "SYSTEMONE_BASE_URL": "http://127.0.0.1:9/v1",
            "SYSTEMONE__EU__BASE_URL": f"{server.url}/eu",
            "SYSTEMONE__EU__API_KEY": "eu",
            "SYSTEMONE_MODEL": "ours",
        }
    )

    decision = gateway.ask_sync("TEAM", ASK, current=lambda: "billing")

    (seen,) = server.seen
    assert (seen.path, seen.headers["authorization"]) == ("/v1/eu/systemone", "Bearer eu")
    assert decision.attempts[0].provider == "systemone/eu"
    assert decision.attempts[0].model in ("ours", "typesafe-ai/jev-1.13.0")


def test_the_variables_of_decisions_are_none_of_a_point(gateway_of: Make) -> None:
    """`DECISIONS_…` is not `DECISION_…`, not even where unread variables are errors."""
    environ = {"DECISION_STRICT": "true", "DECISIONS_BASE_URL": "http://127.0.0.1:9/v1"}

    gateway = gateway_of({**environ, "DECISION_PROVIDER": "decisions"})
    gateway.check()

    assert gateway.provider("decisions").name == "decisions"


@pytest.mark.parametrize(
    ("model", "path"),
    [
        ("clef-flash", "@cf/cloudflare/clef-flash"),
        ("@cf/cloudflare/clef-omni", "@cf/cloudflare/clef-omni"),
        ("cle f?x=1", "@cf/cloudflare/cle%20f%3Fx%3D1"),
    ],
)
def test_clef_has_variants(server: Server, gateway_of: Make, model: str, path: str) -> None:
    """The variant stands in the path, and cannot leave it."""
    base = server.url.replace("/v1", "/client/v4")
    environ = {"DECISION_PROVIDER": "clef", **NEEDED["clef"], "CLEF_BASE_URL": base}

    gateway_of({**environ, "CLEF_MODEL": model}).ask_sync("TEAM", ASK, current=lambda: "billing")

    assert server.seen[0].path == f"/client/v4/accounts/acc0/ai/run/{path}"


# --- which model is the one asked for ----------------------------------------------------

SERVED = [
    ("jev", "jev", True),
    ("jev", "jev-1.13.0", True),
    ("jev-1.13.0", "jev-1.14.0", False),
    ("jev-latest", "jev-1.14.0", True),
    ("jev-preview", "jev-1.14.0", True),
    ("jev", "jevelin", False),
    ("jev", "jev-mini", False),
    ("typesafe/jev-1.13", "typesafe/jev-1.13-20260917", True),
    ("~typesafe/jev-latest", "typesafe/jev-1.13-20260917", True),
    ("jev-1.13", "typesafe/jev-1.13-20260917", True),  # bare names are prefixed
    ("typesafe/jev-1.13", "jev-1.13", True),
    ("typesafe/jev-1.13", "acme/jev-1.13", False),
    ("openai/gpt-6-luna-decisions", "openai/gpt-6-luna-decisions-20261006", True),
    ("gpt-6-luna", "gpt-6-luna-2026-10-06", True),
    ("liquid/d1", "liquid/d1-ultra", False),
    ("clef", "clef-flash", False),
    ("pplx-decider-latest", "pplx-decider-v1.3", True),
    ("pplx-decider-v1.2", "pplx-decider-v1.3", False),
]


@pytest.mark.parametrize(("asked", "served", "expected"), SERVED)
def test_a_version_is_the_same_model_and_a_variant_is_not(
    asked: str, served: str, *, expected: bool
) -> None:
    """protocols §5, §14.3."""
    assert is_served_as_asked(asked, served) is expected


@given(st.text(st.characters(codec="ascii", exclude_characters="/~"), min_size=1))
def test_what_is_served_under_its_own_name_is_what_was_asked_for(name: str) -> None:
    assert is_served_as_asked(name, name)
    assert is_served_as_asked(name, f"vendor/{name}")


def test_where_nothing_was_asked_for_nothing_is_compared() -> None:
    assert is_served_as_asked("", "jev-1.13.0")


def test_luna_may_be_called_as_gateways_call_it(server: Server, gateway_of: Make) -> None:
    (openai,) = [one for one in VENDORS if one.id == "openai"]
    server.does(openai.says(model="gpt-6-luna-decisions-20261006"))
    gateway = gateway_of(openai.environ(f"127.0.0.1:{server.port}"))

    decision = gateway.ask_sync("TEAM", ASK, current=lambda: "billing")

    assert decision.attempts[0].reason is Reason.OK


# --- limits and prices -------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "environ", "questions", "characters"),
    [
        ("jev", {}, 400, 120_000),
        ("jev", {"JEV_MODEL": "openai/gpt-6-luna-decisions"}, 400, 3_600_000),
        ("jev", {"JEV_MODEL": "liquid/d1"}, 400, 120_000),
        ("openai", {}, 400, 3_600_000),
        ("typesafe", {}, None, 120_000),
        ("openrouter", {}, 200, 120_000),
        ("clef", {}, 64, 240_000),
        ("perplexity", {}, 128, 1_000_000),
        ("litellm", {}, 128, None),
        ("decisions", {}, 400, None),
        ("systemone", {"SYSTEMONE_MODEL": "clef"}, None, None),
    ],
)
def test_limits_are_those_of_the_endpoint_and_the_model(
    made: Callable[..., DecisionsApi],
    name: str,
    environ: dict[str, str],
    questions: int | None,
    characters: int | None,
) -> None:
    """protocols §4.4, §5, §7, §10, §11.1."""
    limits = made(name, **environ).limits

    assert (limits.questions, limits.characters) == (questions, characters)


def test_what_is_too_much_is_not_sent(server: Server, gateway_of: Make) -> None:
    """protocols §14.7: reject locally rather than be truncated remotely."""
    (clef,) = [one for one in VENDORS if one.id == "clef"]
    gateway = gateway_of(clef.environ(f"127.0.0.1:{server.port}"))
    team = ASK.questions["team"]
    many = Ask("s", {f"q{at}": team for at in range(65)})
    long = Ask("s" * 240_001, {"team": team})

    reasons = [
        gateway.ask_sync("TEAM", ask, current=lambda: "billing").attempts[0].reason
        for ask in (many, long)
    ]

    assert reasons == [Reason.UNSUPPORTED, Reason.TOO_LARGE]
    assert server.seen == []


@pytest.mark.parametrize(
    ("model", "usd"),
    [
        ("typesafe-ai/jev-1.13.0", 0.042),
        ("~typesafe/jev-latest", 0.042),
        ("openai/gpt-6-luna-decisions", 0.10),
        ("@cf/cloudflare/clef", 0.24),
        ("clef-flash", 0.09),
        ("perplexity/pplx-decider-flash-v1.2", 0.01),
        ("Microsoft-Decision-1", 0.042),
        ("jevelin", None),
        ("", None),
    ],
)
def test_the_longest_name_that_fits_has_the_price(model: str, usd: float | None) -> None:
    found = known(model)

    assert (found and found.usd_per_million) == usd


@given(st.integers(0, 10**9), st.sampled_from(sorted(MODELS)))
def test_an_estimate_is_tokens_times_price_and_says_so(tokens: int, model: str) -> None:
    """Law: what was told is kept, what was not is linear in tokens, and marked."""
    told = Usage(tokens, 3, 0.5)
    estimate = priced(Usage(tokens, 3), "unknown", model)

    assert priced(told, model) == told
    assert estimate.estimated
    assert estimate.cost_usd == pytest.approx(tokens * MODELS[model].usd_per_million * 1e-6)
    assert priced(Usage(tokens, 3, 0.0), "unknown") == Usage(tokens, 3)


# --- the safety identifier ---------------------------------------------------------------


@given(st.text(), st.text())
def test_identifiers_differ_as_subjects_do(one: str, other: str) -> None:
    """Law: 64 hexadecimal digits; equal for equal subjects under one key, and only for them."""
    first, second = identifier(one, b""), identifier(other, b"")

    assert re.fullmatch("[0-9a-f]{64}", first)
    assert (first == second) == (one == other)
    assert identifier(one, b"key") != first


def test_the_journals_key_keeps_subjects_from_being_guessed(
    server: Server, gateway_of: Make
) -> None:
    """Who knows a subject cannot tell its identifier without the key."""
    (openai,) = [one for one in VENDORS if one.id == "openai"]
    environ = openai.environ(f"127.0.0.1:{server.port}")
    server.does(openai.speaks())
    keys = [{}, {"DECISION_JOURNAL_KEY": "k" * 40}, {"DECISION_JOURNAL_KEY": "l" * 99}]
    for key in keys:
        gateway = gateway_of({**environ, **key})
        gateway.ask_sync("TEAM", ASK, current=lambda: "billing", subject="ana")

    sent = [re.findall(rb'"safety_identifier":"(\w+)"', seen.body) for seen in server.seen]
    assert all(len(one) == 1 for one in sent)
    assert len({one[0] for one in sent}) == 3


# --- nothing secret is written -----------------------------------------------------------

CANARY = "zq7"


@pytest.mark.parametrize("vendor", VENDORS, ids=lambda vendor: vendor.id)
def test_neither_key_nor_state_nor_body_is_written_anywhere(
    server: Server,
    gateway_of: Make,
    vendor: Vendor,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
    caplog: pytest.LogCaptureFixture,
) -> None:
    """Errors, records, logs: planted secrets are searched for in all of it."""
    caplog.set_level(logging.INFO)
    here = f"127.0.0.1:{server.port}"
    if "{here}" not in vendor.base:
        monkeypatch.setenv("HTTP_PROXY", f"http://{here}")
    said = (
        vendor.speaks(),
        vendor.replies(vendor.answered(zq7="zq7")[:-9]),
        replies(failed("zq7", "zq7", "zq7-key"), 401),
        replies(b'{"detail": "zq7-key"}', 400),
        replies(HTML + b"zq7", 500),
    )
    ask = Ask(
        {"message": "zq7-state"}, {"team": Choice("zq7-which?", {"one": "zq7-d", "two": "zq7-e"})}
    )
    records: list[Record] = []
    for does in said:
        server.does(does)
        environ = {**vendor.environ(here), "DECISION_LOG": "json"}
        prefix = vendor.provider.upper()
        gateway = gateway_of({**environ, f"{prefix}_MAX_ATTEMPTS": "1"}, observers=[records.append])
        gateway.ask_sync("TEAM", ask, current=lambda: "none", subject="zq7-subject")
        provider = gateway.provider(vendor.provider)
        assert CANARY not in repr(provider) + repr(vars(provider))

    attempts = list(itertools.chain.from_iterable(record.attempts for record in records))
    assert len(records) == len(said)
    written = [*capfd.readouterr(), *(one.getMessage() for one in caplog.records)]
    assert CANARY not in repr([one for one in attempts if one.provider != "current"])
    assert not [text for text in written if CANARY in text]

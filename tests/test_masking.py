"""What a provider must not see is taken out of the state before it leaves."""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from faulty import TEAM, Server
from pointsman import (
    Ask,
    Call,
    Decision,
    Gateway,
    Limits,
    MaskOffer,
    NoAnswer,
    Offer,
    Reason,
    Reply,
    SetupError,
    hookimpl,
    scripted,
)
from pointsman.providers.pii import pii

Gateways = Callable[..., Gateway]
CANARY = "ana.zq7@example.com"
STATE = {
    "message": f"write to {CANARY}",
    "card": 4111111111111111,
    "plan": {"tags": [CANARY, None]},
}
MASKED = {
    "message": "write to <EMAIL_ADDRESS>",
    "card": 4111111111111111,
    "plan": {"tags": ["<EMAIL_ADDRESS>", None]},
}


class Masks:
    """Offers one mask, and two providers that keep what they are asked."""

    def __init__(self, mask: Any = str.upper, name: str = "loud") -> None:
        self.mask, self.name = mask, name
        self.made: dict[str, Any] = {}

    def _make(self, setup: Any) -> Any:
        self.made[setup.name] = scripted("tech")
        return self.made[setup.name]

    @hookimpl
    def pointsman_providers(self) -> list[Offer]:
        return [Offer("one", lambda: self._make), Offer("two", lambda: self._make)]

    @hookimpl
    def pointsman_masks(self) -> list[MaskOffer]:
        return [MaskOffer(self.name, lambda: self.mask, extra="stranger[loud]")]


def faults(gateway_of: Gateways, environ: dict[str, str], **given: Any) -> dict[str, Any]:
    with pytest.raises(SetupError) as caught:
        gateway_of(environ, **given)
    return {fault.where: fault for fault in caught.value.faults}


def environ_of(server: Server, **others: str) -> dict[str, str]:
    key = {"AI_GATEWAY_API_KEY": "k", "JEV_BASE_URL": server.url, "JEV_MAX_ATTEMPTS": "1"}
    return {"DECISION_PROVIDER": "jev", "DECISION_LOG": "json", **key, **others}


def decided(
    gateway: Gateway, colour: str, state: Any, current: Callable[[], str] | None = None
) -> Decision[Any]:
    """Decide on either colour's path."""
    ask = Ask(state, {"team": TEAM})
    run = current or (lambda: "billing")
    if colour == "sync":
        return gateway.ask_sync("TEAM", ask, current=run)

    async def asked() -> Decision[Any]:
        async with gateway:
            return await gateway.ask("TEAM", ask, current=run)

    return asyncio.run(asked())


both = pytest.mark.parametrize("colour", ["sync", "async"])


@both
@pytest.mark.parametrize("state", [STATE, STATE["message"], [{"role": "user", "content": CANARY}]])
def test_a_server_receives_the_masked_state_and_nothing_else(
    gateway_of: Gateways, server: Server, colour: str, state: Any
) -> None:
    gateway = gateway_of(environ_of(server, JEV_MASK="pii"))

    made = decided(gateway, colour, state)

    assert made.provider == "jev"
    (seen,) = server.seen
    assert b"zq7" not in seen.body
    assert b"EMAIL_ADDRESS" in seen.body


def test_keys_numbers_and_questions_stay_as_they_are(gateway_of: Gateways) -> None:
    plugin = Masks()
    gateway = gateway_of({"DECISION_PROVIDER": "one", "ONE_MASK": "pii"}, plugins=[plugin])

    decided(gateway, "sync", STATE)

    (ask,) = plugin.made["one"].asked
    assert ask.state == MASKED
    assert ask.questions == {"team": TEAM}


@both
def test_without_a_mask_the_state_leaves_as_it_is(
    gateway_of: Gateways, server: Server, colour: str
) -> None:
    decided(gateway_of(environ_of(server)), colour, STATE)

    assert CANARY.encode() in server.seen[0].body


def test_current_sees_the_original(gateway_of: Gateways, server: Server) -> None:
    gateway = gateway_of(environ_of(server, JEV_MASK="pii", JEV_MIN_CONFIDENCE="0.99"))
    saw: list[str] = []

    @gateway.point("TEAM", TEAM)
    def team(message: str) -> str:
        saw.append(message)
        return "billing"

    assert team(f"write to {CANARY}") == "billing"
    assert saw == [f"write to {CANARY}"]
    assert CANARY.encode() not in server.seen[0].body


@pytest.mark.parametrize(
    ("variables", "seen"),
    [
        ({}, {"one": "Tel a@b.co", "two": "Tel a@b.co", "two/eu": "Tel a@b.co"}),
        ({"ONE_MASK": "loud"}, {"one": "TEL A@B.CO", "two": "Tel a@b.co", "two/eu": "Tel a@b.co"}),
        ({"TWO_MASK": "loud"}, {"one": "Tel a@b.co", "two": "TEL A@B.CO", "two/eu": "TEL A@B.CO"}),
        (
            {"TWO__EU__MASK": " pii , loud,", "TWO_MASK": "loud,pii"},
            {
                "one": "Tel a@b.co",
                "two": "TEL <EMAIL_ADDRESS>",
                "two/eu": "TEL <EMAIL_ADDRESS>",
            },
        ),
    ],
    ids=["none", "one", "an instance inherits", "several"],
)
def test_each_provider_has_masks_of_its_own(
    gateway_of: Gateways, variables: dict[str, str], seen: dict[str, str]
) -> None:
    plugin = Masks()
    names = {"A": "one", "B": "two", "C": "two/eu"}
    selected = {f"DECISION_{point}_PROVIDER": name for point, name in names.items()}
    gateway = gateway_of({**selected, **variables}, plugins=[plugin])

    for point in names:
        gateway.ask_sync(point, Ask("Tel a@b.co", {"q": TEAM}), current=lambda: "tech")

    assert {name: made.asked[0].text for name, made in plugin.made.items()} == seen


def test_masks_run_in_the_order_in_which_they_are_named(gateway_of: Gateways) -> None:
    plugin = Masks(lambda text: text.replace("<", "(").replace(" at ", "@"))
    texts = {}
    for order in ("loud,pii", "pii,loud"):
        gateway = gateway_of({"DECISION_PROVIDER": "one", "ONE_MASK": order}, plugins=[plugin])
        decided(gateway, "sync", "ana at example.com")
        texts[order] = plugin.made["one"].asked[0].text

    assert texts == {"loud,pii": "<EMAIL_ADDRESS>", "pii,loud": "ana@example.com"}


@pytest.mark.parametrize("text", ["pi", "PII", "pii, pi"])
def test_an_unknown_mask_stops_the_start_with_the_nearest(gateway_of: Gateways, text: str) -> None:
    told = faults(gateway_of, {"DECISION_PROVIDER": "local", "LOCAL_MASK": text})

    assert told.keys() == {"LOCAL_MASK"}
    assert "no mask" in told["LOCAL_MASK"].problem
    assert told["LOCAL_MASK"].fix == "Did you mean pii? Installed: pii"


def test_a_mask_is_told_beside_the_other_faults(gateway_of: Gateways) -> None:
    told = faults(gateway_of, {"DECISION_PROVIDER": "jev/eu", "JEV__EU__MASK": ","})

    assert told.keys() == {"AI_GATEWAY_API_KEY", "JEV__EU__MASK"}
    assert told["JEV__EU__MASK"].problem == "it names no mask"


class Unloadable(Masks):
    """Offers a mask whose `load` raises."""

    def __init__(self, error: Exception) -> None:
        super().__init__()
        self._error = error

    def _load(self) -> Any:
        raise self._error

    @hookimpl
    def pointsman_masks(self) -> list[MaskOffer]:
        return [MaskOffer("loud", self._load, extra="stranger[loud]")]


def test_a_missing_extra_is_named_with_the_command_that_brings_it(gateway_of: Gateways) -> None:
    plugin = Unloadable(ImportError("no", name="decibel"))

    told = faults(gateway_of, {"DECISION_PROVIDER": "one", "ONE_MASK": "loud"}, plugins=[plugin])

    assert told["ONE_MASK"].fix == 'Run: pip install "stranger[loud]"'
    assert "decibel" in told["ONE_MASK"].problem
    gateway_of({"DECISION_PROVIDER": "two", "ONE_MASK": "loud"}, plugins=[plugin])


def test_a_mask_that_cannot_be_loaded_is_told_by_its_type(gateway_of: Gateways) -> None:
    environ = {"DECISION_PROVIDER": "one", "ONE_MASK": "loud"}

    broken = faults(gateway_of, environ, plugins=[Unloadable(RuntimeError("zq7"))])
    uncallable = faults(gateway_of, environ, plugins=[Masks(5)])

    assert "(RuntimeError)" in broken["ONE_MASK"].problem
    assert "zq7" not in str(broken["ONE_MASK"])
    assert "cannot be called" in uncallable["ONE_MASK"].problem


def test_a_mask_is_called_as_a_variable_can_say(gateway_of: Gateways) -> None:
    with pytest.raises(SetupError, match="offers the mask 'Very Loud', which no variable can name"):
        gateway_of(plugins=[Masks(name="Very Loud")])


class Bad:
    """A mask that raises."""

    def __init__(self, error: BaseException) -> None:
        self._error = error

    def __call__(self, text: str) -> str:
        raise self._error


@both
@pytest.mark.parametrize(
    ("mask", "error"),
    [
        (Bad(ValueError(CANARY)), "ValueError"),
        (Bad(NoAnswer(Reason.TIMEOUT)), "TypeError"),
        (Bad(SetupError.of("zq7", "zq7", "zq7")), "TypeError"),
        (len, "TypeError"),
    ],
    ids=["a bug", "a reason", "a fault", "no text"],
)
def test_where_a_mask_fails_nothing_is_sent_and_current_decides(
    gateway_of: Gateways,
    server: Server,
    capsys: pytest.CaptureFixture[str],
    colour: str,
    mask: Any,
    error: str,
) -> None:
    gateway = gateway_of(environ_of(server, JEV_MASK="loud"), plugins=[Masks(mask)])

    made = decided(gateway, colour, STATE)

    assert (made.value, made.provider) == ("billing", "current")
    assert [one.reason for one in made.attempts] == [Reason.PROVIDER_ERROR, Reason.OK]
    assert server.seen == []
    logged = capsys.readouterr().err
    events = [json.loads(line) for line in logged.splitlines()]
    (bug,) = [one for one in events if one["event"] == "decision.provider_bug"]
    assert bug["error"] == error
    assert "zq7" not in logged


def test_a_state_that_grew_too_long_under_its_mask_is_not_sent(gateway_of: Gateways) -> None:
    plugin = Masks(lambda text: text * 9)
    gateway = gateway_of({"DECISION_PROVIDER": "one", "ONE_MASK": "loud"}, plugins=[plugin])
    plugin.made["one"].limits = Limits(characters=20)

    made = decided(gateway, "sync", "router")

    assert made.attempts[0].reason is Reason.TOO_LARGE
    assert plugin.made["one"].asked == []


class Named:
    """A provider given by hand, under a name that has a mask."""

    name = "one"
    limits = Limits()

    def __init__(self) -> None:
        self.texts: list[str] = []

    def answer(self, ask: Ask, call: Call) -> Reply:
        self.texts.append(ask.text)
        raise NoAnswer(Reason.UNSUPPORTED)


def test_a_provider_put_in_the_place_of_another_has_the_mask_of_its_name(
    gateway_of: Gateways,
) -> None:
    gateway, given = gateway_of({"ONE_MASK": "pii"}), Named()

    with gateway.override({"TEAM": given}):
        decided(gateway, "sync", STATE["message"])

    assert given.texts == [MASKED["message"]]


def test_what_several_points_share_in_a_turn_is_masked_too(
    gateway_of: Gateways, server: Server
) -> None:
    gateway = gateway_of(environ_of(server, JEV_MASK="pii"))

    async def asked() -> None:
        async with gateway, gateway.turn(subject="s") as turn:
            await turn.ask("GUARDRAIL_PINJ", "GUARDRAIL_TOX", state={"text": f"ask {CANARY}"})

    asyncio.run(asked())

    (seen,) = server.seen
    assert b"ask <EMAIL_ADDRESS>" in seen.body
    assert b"zq7" not in seen.body


# --- the mask `pii` ----------------------------------------------------------------------

FOUND = {
    "write to ana.souza+x@mail.example.com.br.": "write to <EMAIL_ADDRESS>.",
    "fale com joão@exemplo.com, por favor": "fale com <EMAIL_ADDRESS>, por favor",
    "me liga no (11) 98765-4321 amanhã": "me liga no <PHONE_NUMBER> amanhã",
    "whatsapp 11987654321": "whatsapp <PHONE_NUMBER>",
    "+55 11 98765-4321": "<PHONE_NUMBER>",
    "+5511987654321": "<PHONE_NUMBER>",
    "fixo (21) 3456-7890": "fixo <PHONE_NUMBER>",
    "sem DDD: 98765-4321": "sem DDD: <PHONE_NUMBER>",
    "call 212-555-0123 now": "call <PHONE_NUMBER> now",
    "+44 20 7946 0958": "<PHONE_NUMBER>",
    "card 4111 1111 1111 1111, CVV 123": "card <CREDIT_CARD>, CVV 123",
    "order 20 4111-1111-1111-1111": "order 20 <CREDIT_CARD>",
    "cartão 4111111111111111": "cartão <CREDIT_CARD>",
    "amex 3782 822463 10005": "amex <CREDIT_CARD>",
    "４１１１ １１１１ １１１１ １１１１": "<CREDIT_CARD>",
    "IBAN DE89 3704 0044 0532 0130 00 e o meu": "IBAN <IBAN_CODE> e o meu",
    "BR1500000000000010932840814P2": "<IBAN_CODE>",
    "meu CPF é 529.982.247-25": "meu CPF é <CPF>",
    "cpf 52998224725": "cpf <CPF>",
    "CNPJ 11.222.333/0001-81": "CNPJ <CNPJ>",
    "CNPJ 12.ABC.345/01DE-35": "CNPJ <CNPJ>",
    "from 10.0.0.1.": "from <IP_ADDRESS>.",
    "host 2001:db8::1 is down": "host <IP_ADDRESS> is down",
    "a@b.co e b@c.co": "<EMAIL_ADDRESS> e <EMAIL_ADDRESS>",
}
KEPT = (
    "R$ 12,90",
    "cobraram R$ 1.234.567,89 em vez de 84.20",
    "R$ 1.100.200.250,00",
    "$ 2125550123.00",
    "R$ 1199887766",
    "30 GB for $84.20 a month",
    "vence em 30/11/2026, às 10:30",
    "between 2026-11-30 and 2026-12-31",
    "2026-11-30T06:41:57.123456Z",
    "season 2024-2025",
    "0.4111111111111111",
    "CEP 01310-100",
    "version 1.2.3",
    "std::vector and a::b at 12:30:45",
    "card 4111 1111 1111 1112",
    "CPF 529.982.247-26",
    "ticket #4821, line ends in 4821",
    "me @ home",
    "<EMAIL_ADDRESS> and <PHONE_NUMBER>",
    "",
)


@pytest.mark.parametrize(("text", "seen"), FOUND.items(), ids=FOUND)
def test_what_names_a_person_is_masked(text: str, seen: str) -> None:
    assert pii(text) == seen


@pytest.mark.parametrize("text", KEPT)
def test_amounts_dates_and_quantities_are_not(text: str) -> None:
    assert pii(text) == text


pieces = st.sampled_from([*FOUND, *KEPT, "+55", "@", " ", ".", "11", "98765", "::", "-"])


@given(text=st.lists(pieces | st.text("0123456789+-.()@: a", max_size=12), max_size=6).map("".join))
@example("a@b.com@c.com")
@settings(derandomize=True, deadline=None, max_examples=200)
def test_masking_twice_is_masking_once(text: str) -> None:
    once = pii(text)

    assert pii(once) == once


@pytest.mark.parametrize(("length", "beside"), [(10, False), (5_000, True)])
def test_a_long_text_is_masked_beside_the_loop(
    gateway_of: Gateways, length: int, *, beside: bool
) -> None:
    threads: list[str] = []

    def mask(text: str) -> str:
        threads.append(threading.current_thread().name)
        return text.upper()

    plugin = Masks(mask)
    gateway = gateway_of({"DECISION_PROVIDER": "one", "ONE_MASK": "loud"}, plugins=[plugin])
    asyncio.run(gateway.ask("TEAM", Ask("a" * length, {"team": TEAM}), current=lambda: "billing"))
    assert plugin.made["one"].asked[0].state == "A" * length
    assert (threading.main_thread().name not in threads) is beside

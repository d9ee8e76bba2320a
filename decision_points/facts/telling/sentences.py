"""An explanation in one sentence, in English and Portuguese."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING

from .escaping import KEY, named, quoted
from .lines import decided_by, several
from .words import KINDS, PHRASES, STALE, STATUS, WHY, Language, language_of

if TYPE_CHECKING:
    from .explanation import Claim, Explanation, Option

SHAPES: Mapping[Language, Mapping[str, str]] = {
    "en": {
        "is": "{key} is {value}",
        "alone": "as {who} says and nobody denies",
        "agree": "as {who} agree",
        "won": "by {by}: {who}",
        "over": "over {who}, which says {value}",
        "ruled": "as {who} ({party}) resolved on {at}",
        "because": "because {reason}",
        "against": "though {claims}",
        "disputed": "{key} is disputed ({why}): {claims}",
        "unreconciled": "{key} is unreconciled, since {why}: {claims}",
        "absent": "{key} has no value: {why}",
        "not_yet": "{key} is not yet in force: what is said of it holds only later",
        "ended": "{key} has ended",
        "stale": "it is stale, for {why}",
        "dissent": "others say otherwise ({count})",
    },
    "pt": {
        "is": "{key} é {value}",
        "alone": "como {who} diz e ninguém nega",
        "agree": "como {who} concordam",
        "won": "por {by}: {who}",
        "over": "sobre {who}, que diz {value}",
        "ruled": "como {who} ({party}) resolveu em {at}",
        "because": "porque {reason}",
        "against": "embora {claims}",
        "disputed": "{key} está em disputa ({why}): {claims}",
        "unreconciled": "{key} não está reconciliado, pois {why}: {claims}",
        "absent": "{key} não tem valor: {why}",
        "not_yet": "{key} ainda não vigora: o que se diz dele só vale mais tarde",
        "ended": "{key} está encerrado",
        "stale": "está desatualizado: {why}",
        "dissent": "outros dizem o contrário ({count})",
    },
}
DAY = len("2026-11-30")  # of a time, as it is written
PARTY: Mapping[Language, Mapping[str, str]] = {
    "en": {"person": "a person", "agent": "an agent"},
    "pt": {"person": "uma pessoa", "agent": "um agente"},
}


def sentence(found: Explanation, language: str = "en") -> str:
    """
    Say why a fact stands as it does.

    Raises:
        DeclarationError: Another language than `en` and `pt`.

    """
    lang = language_of(language)
    told = [_STATUS.get(found.status, _plainly)(found, lang), *_besides(found, lang)]
    return "; ".join(told) + "."


def _resolved(found: Explanation, lang: Language) -> str:
    values = (found.value,) if found.members is None else found.members
    value = several([quoted(one or "") for one in values], lang) or PHRASES[lang]["empty_set"]
    head = SHAPES[lang]["is"].format(key=_key(found), value=value)
    return ", ".join([head, *_how(found, lang)])


def _how(found: Explanation, lang: Language) -> Iterator[str]:
    shapes, ruling = SHAPES[lang], found.resolution
    held = tuple(one for one in found.candidates if one.value == found.value)
    if ruling is None:
        held = held or found.candidates
    who = _sources(held, lang)
    if ruling is not None:
        party = PARTY[lang].get(ruling.party, ruling.party)
        yield shapes["ruled"].format(who=named(ruling.by), party=party, at=ruling.at[:DAY])
        if ruling.reason:
            yield shapes["because"].format(reason=quoted(ruling.reason))
        others = [_claim(one, lang) for one in found.candidates if one not in held]
        if others:
            yield shapes["against"].format(claims=several(others, lang, "; "))
    elif found.decided_by == "unanimous":
        agree = len({one for option in held for one in option.sources}) > 1
        yield shapes["agree" if agree else "alone"].format(who=who)
    else:
        yield shapes["won"].format(by=decided_by(found.decided_by, lang), who=who)
    if ruling is None and (loser := _runner_up(found)):
        yield shapes["over"].format(who=_with_level(loser), value=_lost(loser, lang))


def _disputed(found: Explanation, lang: Language) -> str:
    why = WHY[lang].get(found.reason, found.reason)
    return SHAPES[lang]["disputed"].format(key=_key(found), why=why, claims=_claims(found, lang))


def _unreconciled(found: Explanation, lang: Language) -> str:
    why = WHY[lang]["undeclared"]
    shape = SHAPES[lang]["unreconciled"]
    return shape.format(key=_key(found), why=why, claims=_claims(found, lang))


def _absent(found: Explanation, lang: Language) -> str:
    said = next((one.value for one in found.candidates if one.form == "kind"), "")
    who = f" ({_sources(found.candidates, lang)})" if said else ""
    why = f"{WHY[lang][said or 'silent']}{who}"
    return SHAPES[lang]["absent"].format(key=_key(found), why=why)


def _plainly(found: Explanation, lang: Language) -> str:
    shape = SHAPES[lang].get(found.status, f"{{key}}: {STATUS[lang].get(found.status, '')}")
    return shape.format(key=_key(found))


_STATUS: Mapping[str, Callable[[Explanation, Language], str]] = {
    "resolved": _resolved,
    "disputed": _disputed,
    "unreconciled": _unreconciled,
    "absent": _absent,
}


def _besides(found: Explanation, lang: Language) -> Iterator[str]:
    if found.stale:
        yield SHAPES[lang]["stale"].format(why=STALE[lang][found.stale])
    if found.status == "resolved" and found.dissent:
        count = sum(voices for _, voices in found.dissent)
        told = f"{count:,} {PHRASES[lang]['voice' if count == 1 else 'voices']}"
        yield SHAPES[lang]["dissent"].format(count=told)


def _key(found: Explanation) -> str:
    return named(found.key, KEY)


def _runner_up(found: Explanation) -> Claim | None:
    return next((one for one in found.claims if one.id == found.runner_up), None)


def _with_level(claim: Claim) -> str:
    level = f" ({named(claim.level)})" if claim.level and claim.level != claim.source else ""
    return f"{named(claim.source)}{level}"


def _claims(found: Explanation, lang: Language) -> str:
    return several([_claim(one, lang) for one in found.candidates], lang, "; ")


def _claim(option: Option, lang: Language) -> str:
    says = PHRASES[lang]["says" if len(option.sources) == 1 else "say"]
    return f"{_sources((option,), lang)} {says} {_value(option, lang)}"


def _value(option: Option, lang: Language) -> str:
    if option.form == "kind":
        return KINDS[lang][option.value]
    told = quoted(option.value)
    return f"{KINDS[lang][option.form]}, {told}" if option.form in KINDS[lang] else told


def _lost(claim: Claim, lang: Language) -> str:
    if claim.kind == "value":
        return quoted(claim.says)
    return ", ".join([KINDS[lang][claim.kind], *([quoted(claim.says)] if claim.says else [])])


def _sources(options: tuple[Option, ...], lang: Language) -> str:
    every = sorted({source for one in options for source in one.sources})
    return several([named(one) for one in every], lang)

"""An explanation in one sentence, in English and Portuguese."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from .escaping import KEY, apart, named, quoted
from .lines import CERTAIN, MOST, by_text, credit_text, several
from .words import KINDS, PHRASES, STALE, STATUS, WHY, Language, language_of

if TYPE_CHECKING:
    from .explanation import Claim, Explanation, Membership, Option

SHAPES: Mapping[Language, Mapping[str, str]] = {
    "en": {
        "is": "{key} is {value}",
        "alone": "as {who} says and nobody denies",
        "agree": "as {who} agree",
        "won": "{by}: {who}",
        "empty": "{key} has no members",
        "undenied": "and nobody denies it",
        "ruled_in": "with {value} as {who} ({party}) resolved on {at}",
        "ruled_out": "without {value} as {who} ({party}) resolved on {at}",
        "over": "over {who}, which says {value}",
        "ruled": "as {who} ({party}) resolved on {at}",
        "because": "because {reason}",
        "against": "though {claims}",
        "disputed": "{key} is disputed ({why}): {claims}",
        "unreconciled": "{key} is unreconciled, since {why}: {claims}",
        "absent": "{key} has no value: {why}",
        "not_yet": "{key} is not yet in force: what is said of it holds only later",
        "ended": "{key} has ended",
        "stale": "it is stale: {why}",
        "dissent": "others say otherwise ({count})",
    },
    "pt": {
        "is": "{key} é {value}",
        "alone": "como {who} diz e ninguém nega",
        "agree": "como {who} concordam",
        "won": "{by}: {who}",
        "empty": "{key} não tem membros",
        "undenied": "e ninguém nega",
        "ruled_in": "com {value}, como {who} ({party}) resolveu em {at}",
        "ruled_out": "sem {value}, como {who} ({party}) resolveu em {at}",
        "over": "acima de {who}, que diz {value}",
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
MOODS: Mapping[Language, Mapping[str, str]] = {
    "en": {},
    "pt": {"diz": "diga", "dizem": "digam"},
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
    if found.memberships and _of_several(found):
        return ", ".join(_of_set(found, lang))
    values = (found.value or "",) if found.members is None else found.members
    told = [quoted(_cut(one, found)) for one in values[:MOST]]
    value = several(told, lang, total=len(values))
    shape = SHAPES[lang]["is" if value else "empty"]
    return ", ".join([shape.format(key=_key(found), value=value), *_how(found, lang)])


def _of_several(found: Explanation) -> bool:
    """Whether the members of a set are the word of different ones, or one was resolved."""
    told = {one.sources for one in found.memberships}
    return len(told) > 1 or any(one.resolution for one in found.memberships)


def _of_set(found: Explanation, lang: Language) -> Iterator[str]:
    shapes, ruled = SHAPES[lang], [one for one in found.memberships if one.resolution]
    holding = [one for one in found.memberships if one.holds]
    told = [_member(one, found, lang) for one in holding[:MOST]]
    value = several(told, lang, total=len(holding))
    yield shapes["is" if value else "empty"].format(key=_key(found), value=value)
    for one in ruled[:MOST]:
        yield from _member_ruled(one, found, lang)
    if not ruled:
        by = by_text(found.decided_by, lang)
        yield shapes["undenied"] if found.decided_by == "unanimous" else by
    chosen = {(one.member, one.holds) for one in ruled}
    others = [o for o in found.candidates if (o.value, o.form not in KINDS[lang]) not in chosen]
    if ruled and others:
        yield shapes["against"].format(claims=_though(others, found, lang))


def _member(one: Membership, found: Explanation, lang: Language) -> str:
    told = quoted(_cut(one.member, found))
    whose = credit_text(one.sources, one.resolution.by if one.resolution else "", lang)
    return f"{told} ({whose})" if whose else told


def _member_ruled(one: Membership, found: Explanation, lang: Language) -> Iterator[str]:
    ruling, shape = one.resolution, SHAPES[lang]["ruled_in" if one.holds else "ruled_out"]
    if ruling is not None:
        value = quoted(_cut(one.member, found))
        party = PARTY[lang].get(ruling.party, ruling.party)
        yield shape.format(value=value, who=named(ruling.by), party=party, at=ruling.at[:DAY])
        if ruling.reason:
            yield SHAPES[lang]["because"].format(reason=quoted(ruling.reason))


def _cut(text: str, found: Explanation) -> str:
    """Cut *text* so that it does not look like another that the sentence may name."""
    lost = _runner_up(found)
    named_too = [found.value or "", *(found.members or ()), lost.says if lost else ""]
    every = dict.fromkeys([text, *named_too, *(one.value for one in found.candidates)])
    return apart(sorted(every))[sorted(every).index(text)]


def _how(found: Explanation, lang: Language) -> Iterator[str]:
    shapes, ruling = SHAPES[lang], found.resolution
    values = (found.value,) if found.members is None else found.members
    held = tuple(one for one in found.candidates if one.value in values and not _denies(one))
    if ruling is None:
        held = held or found.candidates
    who = _sources(held, lang)
    if ruling is not None:
        party = PARTY[lang].get(ruling.party, ruling.party)
        yield shapes["ruled"].format(who=named(ruling.by), party=party, at=ruling.at[:DAY])
        if ruling.reason:
            yield shapes["because"].format(reason=quoted(ruling.reason))
        others = [one for one in found.candidates if one not in held]
        if others:
            yield shapes["against"].format(claims=_though(others, found, lang))
    elif found.decided_by == "unanimous":
        agree = len({one for option in held for one in option.sources}) > 1
        both = _sources(held, lang, PHRASES[lang]["and"])
        yield shapes["agree" if agree else "alone"].format(who=both)
    else:
        yield shapes["won"].format(by=by_text(found.decided_by, lang), who=who)
    if ruling is None and (loser := _runner_up(found)):
        yield shapes["over"].format(who=_with_level(loser), value=_lost(loser, found, lang))


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
    if found.status in CERTAIN and found.dissent:
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
    told = [_claim(one, found, lang) for one in found.candidates[:MOST]]
    return several(told, lang, "; ", len(found.candidates))


def _though(others: Sequence[Option], found: Explanation, lang: Language) -> str:
    told = [_claim(one, found, lang, though=True) for one in others[:MOST]]
    return several(told, lang, "; ", len(others))


def _claim(option: Option, found: Explanation, lang: Language, *, though: bool = False) -> str:
    says = PHRASES[lang]["says" if len(option.sources) == 1 else "say"]
    if though:  # behind "though", which in Portuguese takes another form of the verb
        says = MOODS[lang].get(says, says)
    return f"{_sources((option,), lang)} {says} {_value(option, found, lang)}"


def _denies(option: Option) -> bool:
    return option.form in KINDS["en"]


def _value(option: Option, found: Explanation, lang: Language) -> str:
    if option.form == "kind":
        return KINDS[lang][option.value]
    told = quoted(_cut(option.value, found))
    return f"{KINDS[lang][option.form]}, {told}" if option.form in KINDS[lang] else told


def _lost(claim: Claim, found: Explanation, lang: Language) -> str:
    told = quoted(_cut(claim.says, found))
    if claim.kind == "value":
        return told
    return ", ".join([KINDS[lang][claim.kind], *([told] if claim.says else [])])


def _sources(options: tuple[Option, ...], lang: Language, last: str = "") -> str:
    every = [named(one) for one in sorted({name for one in options for name in one.sources})]
    if last and 1 < len(every) <= MOST:
        return f"{', '.join(every[:-1])} {last} {every[-1]}"
    return several(every, lang)

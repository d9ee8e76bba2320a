"""How a fact stands, on one line: for a prompt, a log, an error."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, TypeAlias

from ..times import written
from .escaping import KEY, named, quoted
from .spelling import SAID_OF_MEMBERS, spelt_apart
from .words import BY, KINDS, PHRASES, STALE, STATUS, WHY, Language, language_of

if TYPE_CHECKING:
    from ..assertions import Value
    from ..keys import FactKey
    from ..outcomes import Candidate, Outcome
    from ..reading import Reading
    from .crediting import Credit

Shown: TypeAlias = "Mapping[Value, str]"
"""Value → as it is shown, made safe and cut."""

MOST = 8  # candidates, members or sources that are named; how many more there are is always said


CERTAIN = ("resolved", "absent", "ended")
"""Where one thing holds, which others may deny."""


def standing(status: str, reason: str = "", stale: str = "", language: str = "en") -> str:
    """
    Say in words how a fact stands: `resolved`, `disputed (tie)`, `resolved, stale (…)`.

    Args:
        status: Of an outcome.
        reason: Why it is disputed; empty: it is not.
        stale: Why it is stale: `age`, `input_changed`, `redacted`; empty: it is not.
        language: `en` or `pt`.

    Raises:
        DeclarationError: Another language.

    """
    lang = language_of(language)
    said = STATUS[lang].get(status, status)
    why = reason or ("undeclared" if status == "unreconciled" else "")
    told = f"{said} ({WHY[lang].get(why, why)})" if why else said
    return f"{told}, {PHRASES[lang]['stale'].lower()} ({STALE[lang][stale]})" if stale else told


def line(reading: Reading, language: str = "en") -> str:
    """
    Tell one fact as a prompt takes it; a dispute is always told, with values and sources.

    Raises:
        DeclarationError: Another language than `en` and `pt`.

    """
    lang = language_of(language)
    told = [f"{key_text(reading.key)}: {_told(reading, lang)}"]
    told.extend(_remarks(reading, lang))
    return " ".join(told)


def prompt(readings: Reading | Iterable[Reading], language: str = "en") -> str:
    """
    Tell facts as a prompt takes them.

    Every value, source and reason is quoted data. There is no way to leave a dispute out.

    Args:
        readings: One, which is told on one line; or several, a line each, below a line that says
            what they are.
        language: `en` or `pt`.

    Raises:
        DeclarationError: Another language.

    """
    lang = language_of(language)
    if not isinstance(readings, Iterable):
        return line(readings, lang)
    told = [f"- {line(one, lang)}" for one in readings]
    return "\n".join([PHRASES[lang]["head"], *told]) if told else PHRASES[lang]["none"]


def key_text(key: FactKey) -> str:
    """Write a key for a prompt."""
    return named(str(key), KEY)


def _value(value: Value, lang: Language, how: Shown) -> str:
    if value.form == "kind":
        return KINDS[lang][value.text]
    told = quoted(how[value])
    return f"{KINDS[lang][value.form]}, {told}" if value.form in KINDS[lang] else told


def _values(outcome: Outcome, lang: Language, how: Shown) -> str:
    if outcome.members is not None:
        told = [_value(one, lang, how) for one in outcome.members]
        return several(told, lang) or PHRASES[lang]["empty_set"]
    return "" if outcome.value is None else _value(outcome.value, lang, how)


def _shown(reading: Reading, lang: Language) -> Shown:
    outcome = reading.outcome
    left = (one.value for one in outcome.candidates)
    values = (outcome.value, *(outcome.members or ()), *left, *reading.credits)
    return spelt_apart(values, reading.spelt, lang)


def _members(reading: Reading, lang: Language, how: Shown) -> str:
    """Name the members of a set, each with whose word it is."""
    members = reading.outcome.members or ()
    told = (f"{_value(one, lang, how)}{_whose(reading, one, lang)}" for one in members)
    return several([*told, *_ruled_out(reading, lang, how)], lang) or PHRASES[lang]["empty_set"]


def _whose(reading: Reading, member: Value, lang: Language) -> str:
    credit = reading.credits.get(member)
    told = "" if credit is None else _credited(credit, lang)
    return f" ({told})" if told else ""


def _ruled_out(reading: Reading, lang: Language, how: Shown) -> Iterator[str]:
    for one, credit in reading.credits.items():
        if one.form in SAID_OF_MEMBERS:
            told = _credited(credit, lang)
            yield f"{PHRASES[lang]['without']} {quoted(how[one])} ({told})"


def _credited(credit: Credit, lang: Language) -> str:
    return credit_text(credit.sources, credit.receipt.resolver if credit.receipt else "", lang)


def credit_text(sources: Sequence[str], resolver: str, language: Language) -> str:
    """Name who affirms a member of a set, and who resolved that it is one; empty: nobody did."""
    told = [sources_text(sources, language)] if sources else []
    if resolver:
        told.append(f"{PHRASES[language]['resolved by']} {named(resolver)}")
    return "; ".join(told)


def several(
    told: Sequence[str], language: Language, between: str = ", ", total: int | None = None
) -> str:
    """Name the first of many, and say how many more there are, of *total* if not all are given."""
    left = (len(told) if total is None else total) - MOST
    more = [f"+{left:,} {PHRASES[language]['more']}"] if left > 0 else []
    return between.join([*told[:MOST], *more])


def sources_text(sources: Sequence[str], language: Language) -> str:
    """Name sources for a prompt."""
    return several([named(one) for one in sources], language)


def _claim(candidate: Candidate, lang: Language, how: Shown) -> str:
    says = PHRASES[lang]["says" if len(candidate.sources) == 1 else "say"]
    who = sources_text(candidate.sources, lang)
    return f"{who} {says} {_value(candidate.value, lang, how)}"


def _claims(candidates: Sequence[Candidate], lang: Language, how: Shown) -> str:
    told = [_claim(one, lang, how) for one in candidates[:MOST]]
    return several(told, lang, "; ", len(candidates))


def by_text(key: str, language: Language) -> str:
    """Say by what it was decided: `by authority`."""
    return f"{PHRASES[language]['by']} {BY[language].get(key, key)}".replace("por o ", "pelo ")


def why_absent(outcome: Outcome) -> str:
    """Name why there is nothing: what was said of it, or that nobody says anything."""
    said = next((one.value.text for one in outcome.candidates if one.value.form == "kind"), "")
    return said if said in ("unknown", "deny") else "" if said else "silent"


def _told(reading: Reading, lang: Language) -> str:
    outcome, words, how = reading.outcome, PHRASES[lang], _shown(reading, lang)
    match outcome.status:
        case "resolved":
            if _of_several(reading):
                by = by_text(outcome.decided_by, lang)
                return f"{_members(reading, lang, how)}, {by}."
            return f"{_values(outcome, lang, how)} ({_credit(reading, lang)})"
        case "disputed":
            head = f"{standing('disputed', outcome.reason, '', lang).upper()}."
            members = _members(reading, lang, how)
            kept = f" {words['undisputed']} {members}." if outcome.members else ""
            return f"{head} {_claims(outcome.candidates, lang, how)}. {words['no_value']}{kept}"
        case "unreconciled":
            head = standing("unreconciled", "", "", lang).upper()
            return f"{head}. {words['all_said']} {_claims(outcome.candidates, lang, how)}."
        case "absent":
            head = standing("absent", why_absent(outcome), "", lang).upper()
            return f"{head}{_denying(reading, lang)}"
        case status:
            return f"{STATUS[lang][status].upper()}."


def _credit(reading: Reading, lang: Language) -> str:
    """Say what decided, and whose word the value is: what lost to a resolution is listed too."""
    outcome = reading.outcome
    by = by_text(outcome.decided_by, lang)
    wanted = {outcome.value, *(outcome.members or ())}
    held = [one for one in outcome.candidates if one.value in wanted]
    who = sorted({source for one in held for source in one.sources}) or reading.sources
    alike = next(iter(reading.credits.values()), None)
    if alike is not None:  # of a set in which all is one's word
        return f"{by}; {_credited(alike, lang)}"
    return f"{by}; {sources_text(who, lang)}" if who else by


def _remarks(reading: Reading, lang: Language) -> Iterable[str]:
    words, outcome = PHRASES[lang], reading.outcome
    if reading.provisional:
        value = quoted(str(reading.value))
        yield f"{words['provisional']} ({words['under']} {named(reading.provisional)}): {value}."
    if reading.stale:
        since = reading.last_confirmed
        seen = "" if since is None else f"; {words['confirmed']} {_moment(since)}"
        yield f"{words['stale']}: {STALE[lang][reading.stale]}{seen}."
    if outcome.status in CERTAIN and outcome.trace.dissent:
        yield f"{words['others']} ({voices(outcome, lang)})."


def voices(outcome: Outcome, language: Language) -> str:
    """Count the lineages that say otherwise."""
    count = sum(voices for _, voices in outcome.trace.dissent)
    return f"{count:,} {PHRASES[language]['voice' if count == 1 else 'voices']}"


def _of_several(reading: Reading) -> bool:
    """Whether the members of a set are the word of different ones."""
    told = {(one.sources, one.receipt) for one in reading.credits.values()}
    return len(told) > 1 or any(one.form in SAID_OF_MEMBERS for one in reading.credits)


def _denying(reading: Reading, lang: Language) -> str:
    """Say whose word it is that there is nothing."""
    who = sorted({one for each in reading.outcome.candidates for one in each.sources})
    if not who:
        return "."
    says = PHRASES[lang]["says so" if len(who) == 1 else "say so"]
    return f". {sources_text(who, lang)} {says}."


def _moment(at: object) -> str:
    return written(at) if isinstance(at, int) else str(at)

"""How a fact stands, on one line: for a prompt, a log, an error."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from ..times import written
from .escaping import KEY, named, quoted
from .spelling import Spellings, spelt
from .words import BY, KINDS, PHRASES, STALE, STATUS, WHY, Language, language_of

if TYPE_CHECKING:
    from ..assertions import Value
    from ..keys import FactKey
    from ..outcomes import Candidate, Outcome
    from ..reading import Reading

MOST = 8  # candidates, members or sources that are named; how many more there are is always said


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


def _value(value: Value, lang: Language, how: Spellings) -> str:
    if value.form == "kind":
        return KINDS[lang][value.text]
    told = quoted(spelt(value, how, lang))
    return f"{KINDS[lang][value.form]}, {told}" if value.form in KINDS[lang] else told


def _values(outcome: Outcome, lang: Language, how: Spellings) -> str:
    if outcome.members is not None:
        told = [_value(one, lang, how) for one in outcome.members]
        return several(told, lang) or PHRASES[lang]["empty_set"]
    return "" if outcome.value is None else _value(outcome.value, lang, how)


def several(told: Sequence[str], language: Language, between: str = ", ") -> str:
    """Name the first of many, and say how many more there are."""
    left = len(told) - MOST
    more = [f"+{left:,} {PHRASES[language]['more']}"] if left > 0 else []
    return between.join([*told[:MOST], *more])


def sources_text(sources: Sequence[str], language: Language) -> str:
    """Name sources for a prompt."""
    return several([named(one) for one in sources], language)


def _claim(candidate: Candidate, lang: Language, how: Spellings) -> str:
    says = PHRASES[lang]["says" if len(candidate.sources) == 1 else "say"]
    who = sources_text(candidate.sources, lang)
    return f"{who} {says} {_value(candidate.value, lang, how)}"


def _claims(candidates: Sequence[Candidate], lang: Language, how: Spellings) -> str:
    return several([_claim(one, lang, how) for one in candidates], lang, "; ")


def decided_by(key: str, language: Language) -> str:
    """Name what decided."""
    return BY[language].get(key, key)


def why_absent(outcome: Outcome) -> str:
    """Name why there is nothing: what was said of it, or that nobody says anything."""
    said = next((one.value.text for one in outcome.candidates if one.value.form == "kind"), "")
    return said if said in ("unknown", "deny") else "" if said else "silent"


def _told(reading: Reading, lang: Language) -> str:
    outcome, words, how = reading.outcome, PHRASES[lang], reading.spelt
    match outcome.status:
        case "resolved":
            return f"{_values(outcome, lang, how)} ({_credit(reading, lang)})"
        case "disputed":
            head = f"{standing('disputed', outcome.reason, '', lang).upper()}."
            kept = (
                f" {words['undisputed']} {_values(outcome, lang, how)}." if outcome.members else ""
            )
            return f"{head} {_claims(outcome.candidates, lang, how)}. {words['no_value']}{kept}"
        case "unreconciled":
            head = standing("unreconciled", "", "", lang).upper()
            return f"{head}. {words['all_said']} {_claims(outcome.candidates, lang, how)}."
        case "absent":
            return standing("absent", why_absent(outcome), "", lang).upper() + "."
        case status:
            return f"{STATUS[lang][status].upper()}."


def _credit(reading: Reading, lang: Language) -> str:
    """Say what decided, and whose word the value is: what lost to a resolution is listed too."""
    outcome = reading.outcome
    by = f"{PHRASES[lang]['by']} {decided_by(outcome.decided_by, lang)}"
    held = [one for one in outcome.candidates if one.value == outcome.value]
    counted = held if outcome.value is not None else outcome.candidates
    who = sorted({source for one in counted for source in one.sources}) or reading.sources
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
    if outcome.status == "resolved" and outcome.trace.dissent:
        yield f"{words['others']} ({voices(outcome, lang)})."


def voices(outcome: Outcome, language: Language) -> str:
    """Count the lineages that say otherwise."""
    count = sum(voices for _, voices in outcome.trace.dissent)
    return f"{count:,} {PHRASES[language]['voice' if count == 1 else 'voices']}"


def _moment(at: object) -> str:
    return written(at) if isinstance(at, int) else str(at)

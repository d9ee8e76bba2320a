"""`disputes`, `resolve`, `assign`, `dismiss`, `withdraw`: what nothing decides, and who does."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, get_args

import typer

from ....gateway.cli import screen
from ....gateway.errors import SetupError
from ..disputes.dispute import LIVE, State
from ..telling import Spellings, escaped
from ..values import shown
from .heeding import heed
from .opening import By, Db, Json, Lines, Namespace, Place, facts_of, person
from .printing import line, whole
from .showing import claims_of, moment, style_of

if TYPE_CHECKING:
    from ..disputes import Dispute
    from ..entries import Receipt

Id = Annotated[str, typer.Argument(metavar="ID", help="Of a dispute, or how it begins.")]


def disputes(
    ctx: typer.Context,
    *,
    live: Annotated[
        bool, typer.Option("--open/--all", help="Only those that wait, or all.")
    ] = True,
    count: Annotated[int, typer.Option("-n", "--lines", min=1, help="How many.")] = 20,
    db: Db = None,
    namespace: Namespace = None,
    as_json: Lines = False,
) -> None:
    """List disputes, the most urgent first."""
    with facts_of(ctx, Place(db=db, namespace=namespace)) as store:
        heed(store)
        found = store.disputes.list(LIVE if live else get_args(State))
        if as_json:
            for one in found:
                line(one)
            return
        for number, one in enumerate(found[:count]):
            if number:
                screen.line()
            _shown(one, store.get(one.key).spelt)
    if not found:
        screen.note("Nothing is in dispute." if live else "Nothing was ever in dispute.")
        return
    if len(found) > count:
        screen.note((f"… and {len(found) - count:,} more: -n shows more", screen.FAINT))
    if any(one.live for one in found):
        screen.note(("`pointsman facts resolve ID --choose CANDIDATE` decides one.", screen.FAINT))


def _shown(one: Dispute, how: Spellings) -> None:
    why = one.reason.replace("_", " ")
    style = style_of("disputed") if one.live else ""
    screen.line((escaped(str(one.key)), "bold"), "  ", (f"{one.state} ({why})", style))
    screen.pairs(
        [
            ("dispute", one.id),
            *claims_of(one.candidates, how),
            *([("whose", _whose(one))] if one.assigned_to else []),
            *([("needs a person", escaped(one.escalated))] if one.escalated else []),
            ("since", moment(one.opened_at)),
        ]
    )


def _whose(one: Dispute) -> str:
    return f"{escaped(one.assigned_to)}, until {moment(one.until)}"


def resolve(  # noqa: PLR0913 - options of a command
    ctx: typer.Context,
    dispute: Id,
    *,
    choose: Annotated[
        str | None,
        typer.Option(metavar="CANDIDATE", help="Its id, how it begins, or the value as listed."),
    ] = None,
    value: Annotated[
        str | None, typer.Option(help="Another value, with --source: whose word that is.")
    ] = None,
    source: Annotated[str | None, typer.Option(help="Whose word another value is.")] = None,
    confidence: Annotated[
        float | None, typer.Option(help="How sure you are of another value, from 0 to 1.")
    ] = None,
    reason: Annotated[str, typer.Option(help="Why, for whoever reads it later.")],
    by: By = None,
    db: Db = None,
    namespace: Namespace = None,
    as_json: Json = False,
) -> None:
    """Resolve a dispute as a person: one of the candidates, or another value with its source."""
    _either(choose, value, source)
    with facts_of(ctx, Place(db=db, namespace=namespace)) as store:
        heed(store)
        found = store.disputes.get(store.disputes.find(dispute))
        receipt = store.disputes.resolve(
            found.id,
            "" if choose is None else _chosen(found, choose, store.get(found.key).spelt),
            by=person(by),
            reason=reason,
            seen=found.seen,
            value=value,
            source=source or "",
            confidence=confidence,
        )
        now = store.get(found.key)
    if as_json:
        whole(receipt)
        return
    screen.line(("✓ ", screen.GOOD), (escaped(now.text()), "bold"))
    _receipt(receipt)


def _receipt(receipt: Receipt) -> None:
    undo = f"pointsman facts withdraw {receipt.dispute} --reason …"
    screen.note((f"receipt {receipt.id}; `{undo}` takes it back", screen.FAINT))


def _either(choose: str | None, value: str | None, source: str | None) -> None:
    """
    See that what is chosen is said once.

    Raises:
        SetupError: It is not, or a value is nobody's word.

    """
    if (choose is None) == (value is None):
        fix = "Give one of them: --choose for a candidate, --value and --source for another value"
        raise SetupError.of("--choose", "it takes a candidate or another value", fix)
    if value is not None and source is None:
        fix = "Add --source: another value is an assertion, and has a source"
        raise SetupError.of("--value", "nobody is named who says so", fix)


def _chosen(dispute: Dispute, said: str, how: Spellings) -> str:
    """
    Find the candidate that is meant: by its id, how that begins, or its value.

    Raises:
        SetupError: It is none, or several are meant.

    """
    wanted = said.strip()
    exact = [
        one
        for one in dispute.candidates
        if wanted in (one.id, shown(one.value), how.get(one.value))
    ]
    begun = [one for one in dispute.candidates if one.id.startswith(wanted.lower())]
    found = exact or (begun if wanted else [])
    if len(found) == 1:
        return found[0].id
    told = ", ".join(one.id for one in dispute.candidates)
    problem = "several candidates are meant" if found else "it is none of the candidates"
    raise SetupError.of("--choose", problem, f"They are {told}")


def assign(
    ctx: typer.Context,
    dispute: Id,
    *,
    to: Annotated[str | None, typer.Option(help="To whom; absent: you.")] = None,
    db: Db = None,
    namespace: Namespace = None,
    as_json: Json = False,
) -> None:
    """Take a dispute for as long as the policy's lease says; others leave it alone."""
    with facts_of(ctx, Place(db=db, namespace=namespace)) as store:
        heed(store)
        found = store.disputes.assign(store.disputes.find(dispute), person(to), party="person")
    if as_json:
        whole(found)
    else:
        screen.line(("✓ ", screen.GOOD), f"{found.id} is {_whose(found)}")


def dismiss(  # noqa: PLR0913 - options of a command
    ctx: typer.Context,
    dispute: Id,
    *,
    reason: Annotated[str, typer.Option(help="Why both are legitimate.")],
    by: By = None,
    db: Db = None,
    namespace: Namespace = None,
    as_json: Json = False,
) -> None:
    """Put a dispute aside: both are legitimate, and the fact has to be split."""
    with facts_of(ctx, Place(db=db, namespace=namespace)) as store:
        heed(store)
        id_ = store.disputes.find(dispute)
        found = store.disputes.dismiss(id_, by=person(by), party="person", reason=reason)
    if as_json:
        whole(found)
        return
    screen.line(("✓ ", screen.GOOD), f"{found.id} is put aside; the fact stays without a value")


def withdraw(  # noqa: PLR0913 - options of a command
    ctx: typer.Context,
    dispute: Id,
    *,
    reason: Annotated[str, typer.Option(help="Why it is taken back.")],
    receipt: Annotated[
        str, typer.Option(metavar="ID", help="Of the receipt or dismissal; absent: what counts.")
    ] = "",
    by: By = None,
    db: Db = None,
    namespace: Namespace = None,
    as_json: Json = False,
) -> None:
    """Take back how a dispute was resolved or dismissed: all is as before."""
    with facts_of(ctx, Place(db=db, namespace=namespace)) as store:
        id_ = store.disputes.find(dispute)
        found = store.disputes.withdraw(
            id_, by=person(by), party="person", reason=reason, target=receipt
        )
    if as_json:
        whole(found)
        return
    screen.line(("✓ ", screen.GOOD), f"{found.id} is {found.state.replace('_', ' ')}")

"""The words of a calibration: truth where labels are true, agreement where `current` gave them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec
from rich.text import Text

from ...evaluation.calibration.levels import promises
from .. import screen

if TYPE_CHECKING:
    from ...certificates import AtRisk, Certificate, Key
    from ...evaluation.calibration.descriptions import Share
    from ...evaluation.calibration.labelling import Labels
    from ...evaluation.calibration.vocabulary import Strange


class Words(msgspec.Struct, frozen=True):
    """
    What is said of answers.

    Attributes:
        rate: Share of the answers that are right.
        right: What such an answer is.
        wrong: What another answer is, in a heading.
        labels: What a label is.
        missed: Of a predicate: `no` where `yes` is the label.
        alarms: Of a predicate: `yes` where `no` is the label.
        caption: What answers are held against; for a headline.

    """

    rate: str
    right: str
    wrong: str
    labels: str
    missed: str
    alarms: str
    caption: str


WORDS: dict[Labels, Words] = {
    "gold": Words(
        "accuracy", "right", "wrong", "labels", "missed", "false alarms", "held against labels"
    ),
    "agreement": Words(
        "agreement with current",
        "same as current",
        "other than current",
        "answers of current",
        "against its yes",
        "against its no",
        "held against what current decided: agreement, not truth",
    ),
}


def asked(key: Key) -> str:
    """Say in one line how a question was asked."""
    parts = [key.language or "any language", key.form.partition(":")[0], f"{key.scale} scale"]
    if key.options.startswith("open:"):
        parts.append(f"up to {key.options.rpartition(':')[2]} options")
    return ", ".join(parts)


def who(key: Key) -> str:
    """Name who was asked, with the model that was served."""
    return f"{key.provider} ({key.model})" if key.model else key.provider


def title(key: Key) -> None:
    """Print a line that says which question was asked of whom, and how."""
    screen.line()
    told((key.point, "bold"), f" {key.question}  {who(key)}", (f"  {asked(key)}", screen.FAINT))


def threshold(level: AtRisk, *, two_sided: bool) -> str:
    """Write what a level believes."""
    if not two_sided:
        return "–" if level.minimum is None else f"{level.minimum:.4f}"
    no = "never no" if level.no_below is None else f"no < {level.no_below:.4f}"
    yes = "never yes" if level.yes_from is None else f"yes ≥ {level.yes_from:.4f}"
    return f"{no}, {yes}"


def verdict(certificate: Certificate, words: Words) -> str:
    """Say in one sentence what a certificate promises."""
    level, sided = certificate.used, certificate.two_sided
    assert level is not None
    risk, sure = f"{100 * certificate.risk:g} %", f"{100 * (1 - certificate.delta):g} %"
    if not promises(level, sided=sided):
        return f"nothing may be decided at {risk}: {level.why}{more(level)}"
    if sided:
        each = "of the true ones is answered no, of the false ones yes"
        if certificate.labels == "agreement":
            each = "of what current calls true is answered no, of what it calls false yes"
        return f"{threshold(level, two_sided=True)}: at most {risk} {each} ({sure} sure)"
    at = f"decided from {level.minimum:.4f} on"
    covered = f"{100 * level.coverage:.1f} % of the rows"
    bound = f"bound {100 * level.bound:.2f} %"
    return f"{at}: at most {risk} of it is {words.wrong} ({sure} sure, {bound}); that is {covered}"


def doubts(certificate: Certificate) -> list[str]:
    """Say what a reader has to know before the certificate is put into force."""
    level = certificate.used
    assert level is not None
    said: list[str] = []
    if certificate.doubtful:
        said.append(
            f"{certificate.doubtful:,} rows count as wrong though nobody knows: what was decided"
            " was wrong, and this provider said something else. Feedback with label= would tell."
        )
    if certificate.aside:
        said.append(
            f"{certificate.aside:,} labelled rows were set aside: of each subject, or each text"
            " where there is none, one row counts."
        )
    if certificate.strange:
        said.append(
            f"{certificate.strange:,} labelled rows were left out: their labels name nothing that"
            " can be answered."
        )
    if certificate.selection and promises(level, sided=certificate.two_sided):
        said.append(
            f"Labels were given selectively, which was accepted: {certificate.selection}. The"
            " promise is about rows like the labelled ones."
        )
    return said


def left(strange: Strange) -> str:
    """Say what became of labels that name nothing."""
    if strange.known:
        return f"{strange}. They are left out."
    return f"{strange}. What else can be answered is not known here, so they count as wrong."


def more(level: AtRisk) -> str:
    """Say how many more labels could help."""
    if level.needed is None:
        return "; more labels would not help"
    return f"; about {level.needed:,} more labels could"


def share(one: Share) -> str:
    """Write a share with its interval."""
    interval = f"[{100 * one.low:.1f}, {100 * one.high:.1f}]"
    return f"{screen.percent(one.count, one.of)} {interval}  ({one.count:,} of {one.of:,})"


def told(*said: str | tuple[str, str]) -> None:
    """Print a sentence that goes on in the next line at a blank."""
    screen.out().print(Text.assemble(*said))


def section(title: str) -> None:
    """Begin a part of the report."""
    screen.line()
    screen.line((title, "bold"))

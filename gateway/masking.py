"""
Masking: what a provider must not see is taken out of the state before it leaves.

`<PROVIDER>_MASK` names masks, with commas between several; they run in that order. They see
every text of the state, never its keys, its numbers, the questions or the options: a card
number must be kept as text to be found. What runs as `current` sees the state as it is.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any, TypeAlias, cast

import msgspec

from .environment import variables_of
from .errors import Fault, PointsmanError, SetupError, raise_all
from .questions import Ask

if TYPE_CHECKING:
    from .discovery import Plugins
    from .settings import Settings

SUFFIX = "MASK"

Mask: TypeAlias = Callable[[str], str]
"""Takes out of one text what a provider must not see; whatever it raises, nothing is sent."""


class MaskOffer(msgspec.Struct, frozen=True):
    """
    A mask that a plug-in offers; `<PROVIDER>_MASK` selects it by name.

    Attributes:
        name: How variables name it; lower case, no `/`, `:` or `,`.
        load: Imports what is needed and returns the mask. Runs when it is first selected.
        extra: The extra to install when `load` meets an `ImportError`, as pip writes it.

    """

    name: str
    load: Callable[[], Mask]
    extra: str = ""


def mask_of(provider: str, settings: Settings, plugins: Plugins) -> Mask | None:
    """
    Give the mask of *provider*, several in one; None where its variable is unset.

    Raises:
        SetupError: A mask that no plug-in offers, or one that cannot be loaded.

    """
    candidates = variables_of(provider, SUFFIX)
    settings.read_of_providers.update(candidates)
    values = settings.variables.values
    variable = next((one for one in candidates if one in values), "")
    if not variable:
        return None
    names = [name.strip() for name in values[variable].split(",") if name.strip()]
    raise_all(_unknown(variable, names, plugins))
    return chained([loaded(variable, plugins.masks[name]) for name in names])


def masked(ask: Ask, mask: Mask) -> Ask:
    """
    Give *ask* with every text of its state masked; the questions stay as they are.

    Raises:
        TypeError: The mask gave no text, or raised what only this package may.
        Exception: Whatever else the mask raises.

    """
    return Ask(through(ask.state, ask.text, mask), ask.questions)


def through(state: Any, text: str, mask: Mask) -> Any:  # noqa: ANN401 - any JSON
    """
    Give a *state*, or what its *text* says, with every text of it masked.

    Raises:
        As `masked`.

    """
    try:
        return _through(state if isinstance(state, str) else msgspec.json.decode(text), mask)
    except PointsmanError as bug:  # its reason would be taken for the provider's
        raise TypeError(f"a mask raised {type(bug).__name__}") from None


def _through(value: Any, mask: Mask) -> Any:  # noqa: ANN401 - any JSON
    if isinstance(value, str):
        return _text(mask(value))
    if isinstance(value, dict):
        entries = cast("dict[str, Any]", value)
        return {key: _through(one, mask) for key, one in entries.items()}
    if isinstance(value, list | tuple):
        return [_through(one, mask) for one in cast("list[Any]", value)]
    return value


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise TypeError(f"a mask gave {type(value).__name__}, not a text")
    return value


def chained(masks: list[Mask]) -> Mask:
    """Give several masks as one that applies them in turn."""
    if len(masks) == 1:
        return masks[0]

    def each_in_turn(text: str) -> str:
        for mask in masks:
            text = _text(mask(text))
        return text

    return each_in_turn


def loaded(variable: str, offer: MaskOffer) -> Mask:
    """
    Load a mask that *variable* asks for.

    Raises:
        SetupError: Its library is missing, or the plug-in is broken.

    """
    try:
        mask = offer.load()
    except ImportError as error:
        missing = error.name or "a library"
        fix = f'Run: pip install "{offer.extra}"' if offer.extra else "Install it"
        problem = f"{missing}, which the mask {offer.name!r} needs, is not installed"
        raise SetupError.of(variable, problem, fix) from error
    except Exception as bug:
        problem = f"the mask {offer.name!r} cannot be loaded ({type(bug).__name__})"
        raise SetupError.of(variable, problem, "Repair the plug-in that offers it") from bug
    if callable(mask):
        return mask
    problem = f"the mask {offer.name!r} cannot be called"
    raise SetupError.of(variable, problem, "Repair the plug-in that offers it")


def _unknown(variable: str, names: list[str], plugins: Plugins) -> Iterable[Fault]:
    if not names:
        yield Fault(variable, "it names no mask", f"Installed: {_listed(plugins.masks)}")
    for name in names:
        if name not in plugins.masks:
            problem = f"no mask {name!r} is installed"
            if plugins.broken:
                broken = ", ".join(f"{one} ({why})" for one, why in sorted(plugins.broken.items()))
                problem += f"; these plug-ins cannot be loaded and may offer it: {broken}"
            yield Fault(variable, problem, _near(name, plugins.masks))


def _near(name: str, masks: Mapping[str, MaskOffer]) -> str:
    import difflib

    near = difflib.get_close_matches(name.lower(), list(masks), n=1)
    hint = f"Did you mean {near[0]}? " if near else ""
    return f"{hint}Installed: {_listed(masks)}"


def _listed(masks: Mapping[str, MaskOffer]) -> str:
    return ", ".join(sorted(masks))

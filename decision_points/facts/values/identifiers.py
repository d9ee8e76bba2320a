"""Ids that a kind of thing is known by: one form for each, and its check digits right (RF-02)."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import lru_cache
from importlib import import_module
from types import ModuleType
from typing import Final

from .numbers import lacking
from .texts import malformed

_MODULES: Final = {
    "cnpj": "br.cnpj",
    "cpf": "br.cpf",
    "ean": "ean",
    "iban": "iban",
    "imei": "imei",
    "isbn": "isbn",
    "isin": "isin",
    "issn": "issn",
    "lei": "lei",
    "vat": "eu.vat",
}
"""Kind → module of python-stdnum."""

IDENTIFIERS: Final = ("email", *_MODULES)

LONGEST: Final = 100  # characters of an id with its signs

_EMAIL = re.compile(r"[^@\s\"(),:;<>\[\\\]]{1,64}@[^@\s\"(),:;<>\[\\\]]{1,255}")


@lru_cache(maxsize=32)
def identifier(kind: str) -> Callable[[str], str]:
    """
    Give what reads ids of a *kind* of `IDENTIFIERS` and gives their one form.

    It refuses what is none of the kind, also for a wrong check digit: `malformed_value`.

    Raises:
        SetupError: python-stdnum is not installed.

    """
    if kind == "email":
        return _email
    module = _module(_MODULES[kind])
    errors = _module("exceptions").ValidationError
    convert: Callable[[str], str] = module.to_isbn13 if kind == "isbn" else str

    def read(text: str) -> str:
        if len(text) > LONGEST:
            malformed(f"it is no {kind.upper()}")
        try:
            return convert(module.validate(text))
        except errors:
            return malformed(f"it is no {kind.upper()}", "Check its digits")

    return read


def _module(name: str) -> ModuleType:
    try:
        return import_module(f"stdnum.{name}")
    except ImportError:
        raise lacking("python-stdnum") from None


def _email(text: str) -> str:
    text = text.strip().removeprefix("mailto:")
    if not _EMAIL.fullmatch(text):
        malformed("it is no e-mail address")
    name, _, host = text.lower().rpartition("@")
    if not host.strip(".") or ".." in host:
        malformed("its host has no name")
    return f"{name}@{host.rstrip('.')}"

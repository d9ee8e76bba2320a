"""
Fixed texts for what a rail or a judge found: deciders write no prose.

A host steers by words of a reason: its rewriter follows them, and its second look at a
blocked answer starts where they speak of an identifier and of nothing else. Hence one text
for each code, and none of them says more than its code.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

UNSPECIFIED: Final = "unspecified"
"""The code where a decider did not know which, or was not asked."""

FRASEOLOGIA: Final[Mapping[str, Mapping[str, str]]] = {
    "internal_term": {
        "en": "Say it in the customer's words, without names of tools or systems.",
        "pt": "Diga com as palavras do cliente, sem nomes de ferramentas ou sistemas.",
    },
    "blame": {
        "en": "Say what happened without putting the fault on the customer.",
        "pt": "Diga o que houve sem colocar a culpa no cliente.",
    },
    "vague_list": {
        "en": "Name each service instead of speaking of other services.",
        "pt": "Nomeie cada serviço em vez de falar em outros serviços.",
    },
    "activation": {
        "en": "Do not use the way it was activated as a justification.",
        "pt": "Não use o modo de ativação como justificativa.",
    },
    "other_channel": {
        "en": "Settle it here; do not send the customer to another channel.",
        "pt": "Resolva aqui; não mande o cliente a outro canal.",
    },
    "plan_change": {
        "en": "Do not offer another or a cheaper plan.",
        "pt": "Não ofereça outro plano nem um plano mais barato.",
    },
    "double_refund": {
        "en": "Do not promise a refund in double.",
        "pt": "Não prometa devolução em dobro.",
    },
    UNSPECIFIED: {
        "en": "Say the same within the phrasing rules.",
        "pt": "Diga o mesmo dentro das regras de fraseado.",
    },
}
"""Rule group of FRASEOLOGIA → correction line for the rewriter."""

DLEX_OUT: Final[Mapping[str, Mapping[str, str]]] = {
    "own_protocol": {
        "en": "The answer shows an identifier of this service request.",
        "pt": "A resposta mostra um identificador deste atendimento.",
    },
    "secret": {
        "en": "The answer gives restricted access data away.",
        "pt": "A resposta entrega dados restritos de acesso.",
    },
    "internal_rules": {
        "en": "The answer gives away rules that are not public.",
        "pt": "A resposta entrega regras que não são públicas.",
    },
    "other_person": {
        "en": "The answer gives another person's data away.",
        "pt": "A resposta entrega dados de outra pessoa.",
    },
    "internal_system": {
        "en": "The answer gives away parts of systems that are not public.",
        "pt": "A resposta entrega partes de sistemas que não são públicas.",
    },
    UNSPECIFIED: {
        "en": "The answer gives protected content away.",
        "pt": "A resposta entrega conteúdo protegido.",
    },
}
"""What DLEX_OUT found exposed → reason; only `own_protocol` lets a host look again."""

PLAIN: Final[Mapping[str, Mapping[str, str]]] = {
    "blocked": {"en": "Blocked by a decision.", "pt": "Bloqueado por uma decisão."},
    "allowed": {"en": "Allowed by a decision.", "pt": "Permitido por uma decisão."},
    "undecided": {
        "en": "Nothing decided; the safe outcome was taken.",
        "pt": "Nada decidiu; foi tomado o resultado seguro.",
    },
    "judged": {"en": "Judged by a decision.", "pt": "Julgado por uma decisão."},
}
"""For everything that has no codes of its own."""


def text_of(texts: Mapping[str, Mapping[str, str]], code: str, language: str = "en") -> str:
    """
    Give the fixed text of a *code*.

    An unknown code has the text of `unspecified`, an unknown language that of English.

    Args:
        texts: One of this module's tables.
        code: A code of that table.
        language: `en` or `pt`, also `pt-BR`.

    """
    spoken = texts.get(code) or texts.get(UNSPECIFIED) or texts["undecided"]
    return spoken.get(language.lower()[:2], spoken["en"])

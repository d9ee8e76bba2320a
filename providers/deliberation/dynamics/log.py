"""
The record of a debate with fixed keys, which are Portuguese (DD-76…81, AM-36).

Everything in it is taken from the debate itself; it holds the question and no word of the case.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec

from ..turns import Turn
from .citing import claims
from .hall import Hall
from .minutes import Held
from .retrieval import cited
from .states import STOPS, State

ROUTED = {"COUNCIL": "COUNCIL", "HUMAN": "HUMANO"}
MILLI = 1000


def log_of(hall: Hall, ended: str) -> Mapping[str, Any]:
    """Write the record; `timestamp_fim` is *ended*."""
    return {
        "session_id": hall.session,
        "timestamp_inicio": hall.transcript.header["begun"],
        "timestamp_fim": ended,
        "query": hall.question.instructions,
        "participantes": [one.name for one in hall.panel],
        "rodadas": [_round(held) for held in hall.rounds],
        "rag_queries": _retrievals(hall),
        "resultado": _result(hall),
        "metricas": _figures(hall),
        "turnos": [_turn(one) for one in hall.turns],
        "linhas": list(lines(hall)),
    }


def _round(held: Held) -> Mapping[str, Any]:
    told: dict[str, Any] = {
        "numero": held.number,
        "tipo": held.kind,
        "duracao_ms": round(held.seconds * MILLI),
        "convergencia": None if held.check is None else held.check["score"],
        "agentes_responderam": sorted(held.fresh),
        "agentes_timeout": sorted(held.timeouts),
        "confianca": {name: one.confidence for name, one in sorted(held.fresh.items())},
        "sinais_loop": list(held.signs),
    }
    if held.number > 1:
        told["mudancas_posicao"] = held.moved
    return told


def _retrievals(hall: Hall) -> Mapping[str, Any]:
    """`total = sucesso + timeout + erro`; what is refused was never run."""
    count = [one.ending for one in hall.retrieval.looked].count
    texts = (text for one in hall.stands.values() for text in claims(msgspec.to_builtins(one)))
    return {
        "total": count("ok") + count("timeout") + count("error"),
        "sucesso": count("ok"),
        "timeout": count("timeout"),
        "erro": count("error"),
        "recusadas": count("refused"),
        "chunks_citados": [one for one in cited(texts) if one in hall.retrieval.known],
    }


def _result(hall: Hall) -> Mapping[str, Any]:
    made, check, breaker = hall.synthesis, hall.check, hall.breaker
    stop = STOPS.get(hall.ended)
    council = hall.sitting or {}
    return {
        "convergencia_final": None if check is None else check["score"],
        "motivo_convergencia": _why_none(hall),
        "confianca_sintese": None if made is None else made.confidence.value,
        "confianca_bruta": None if made is None else made.confidence.raw,
        "penalidades": {} if made is None else dict(made.confidence.parts),
        "recomendacao": None if made is None else made.recommendation or None,
        "escalado_para": escalated_to(hall),
        "motivos": list(hall.escalation.get("reasons", ())),
        "notas": list(hall.escalation.get("notes", ())),
        "impasse": bool(hall.escalation.get("impasse")),
        "circuit_breaker": breaker is not None,
        "motivo_circuit_breaker": None if breaker is None else breaker["trigger"],
        "gatilhos": [] if breaker is None else list(breaker["fired"]),
        "motivo_parada": None if stop is None else stop.value,
        "conselho": council.get("score"),
        "estado_final": hall.state_now.value,
    }


def _why_none(hall: Hall) -> str | None:
    """Tell convergence that does not apply (AM-37) from one that nobody could compute."""
    if not hall.applies:
        return "not_applicable"
    undefined = hall.check is None or hall.check["score"] is None
    return "no_quorum" if undefined else None


def escalated_to(hall: Hall) -> str:
    """Name whom it went to last: `HUMANO`, `COUNCIL`, or `NENHUM` (DD-80)."""
    if hall.state_now is State.HUMAN:
        return "HUMANO"
    return ROUTED.get(str(hall.escalation.get("route", "")), "NENHUM")


def _figures(hall: Hall) -> Mapping[str, Any]:
    used = hall.usage
    ends = [one.begun + one.seconds for one in hall.turns]
    return {
        "tempo_total_ms": round(max(ends, default=0.0) * MILLI),
        "tokens": 0 if used is None else used.input_tokens + used.output_tokens,
        "custo_usd": None if used is None else used.cost_usd,
        "chamadas": sum("unasked" not in one.notes for one in hall.turns),
        "rodadas_executadas": len(hall.rounds),
        "refinamentos": hall.facts.refinements,
    }


def _turn(turn: Turn) -> Mapping[str, Any]:
    return {
        "agente": turn.member,
        "tipo": turn.kind,
        "rodada": turn.round,
        "fim": turn.ending,
        "motivo": turn.reason.value,
        "confianca": (turn.said or {}).get("confidence"),
        "duracao_ms": round(turn.seconds * MILLI),
    }


def lines(hall: Hall) -> tuple[str, ...]:
    """Write the lines of the log: a role that ran out of time (DD-69), and a person's turn."""
    late = [
        (one.member, phase_of(one))
        for one in hall.turns
        if one.ending in ("timeout", "partial", "late")
    ]
    return tuple(dict.fromkeys(f"TIMEOUT: {name.upper()} em {phase}" for name, phase in late))


def phase_of(turn: Turn) -> str:
    """Name the phase of a turn: `R1`, `R2`, `R3`, `SYNTHESIS` or `COUNCIL`."""
    if turn.round:
        return f"R{turn.round}"
    return "SYNTHESIS" if turn.kind == "synthesis" else "COUNCIL"

"""A provider that flips a coin, a point to flip it for, and an observer that counts."""

import pointsman as pm

WHO = pm.Choice("Who kicks off?", ["home", "away"])
SEEN: list[pm.Record] = []


class Coin:
    name, limits = "coin", pm.Limits(options=2)

    def answer(self, ask: pm.Ask, call: pm.Call) -> pm.Reply:
        side = list(WHO.options)[len(ask.text) % 2]
        return pm.Reply({name: pm.Chosen(side, None, 0.5) for name in ask.questions}, "coin-1")


@pm.hookimpl
def pointsman_providers() -> list[pm.Offer]:
    return [pm.Offer("coin", lambda: lambda _: Coin())]


@pm.hookimpl
def pointsman_points() -> list[pm.DecisionPoint]:
    return [pm.DecisionPoint(name="KICK_OFF", questions={"en": {"side": WHO}})]


@pm.hookimpl
def pointsman_observers() -> list[object]:
    return [SEEN.append]

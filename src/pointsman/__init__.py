"""Pointsman: the decision-provider gateway for agent systems."""

"""The formulas of deliberation: pure functions over votes, numbers, positions and costs."""

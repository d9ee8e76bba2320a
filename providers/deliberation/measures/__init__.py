"""
The formulas of deliberation: pure functions over votes, numbers, positions and costs.

A small library, for whoever holds or judges deliberations: what protocols and committees count by,
and beside it what one looks at a panel with afterwards (`reliability`, `agreement`, Wilson's bound,
further pools). Nothing of it does I/O, and nothing depends on the order of members.
"""

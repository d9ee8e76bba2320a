"""
The log of facts in the journal's database, and what is worked out from it.

`ledger` appends, `projecting` works out what holds, `view` reads, `verifying` compares the two.
"""

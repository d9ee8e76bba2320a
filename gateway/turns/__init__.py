"""
One call per turn, from what hosts hold down to what is sent.

`turn` is what `Gateway.turn` gives; `promises` are asks that go together by word, `remembering`
knows what was asked before and which `batches` are open; `sharing` makes many asks one, and
`dividing` one reply many, both without I/O.
"""

"""
Questions that wait for a person.

`entries` says what is put to one and what one said, `fitting` whether that is an answer to it,
`asking` puts a case to a person and waits, `watch` looks for what was said on behalf of all who
wait, and `inbox` is what a gateway holds of it all. The rows are the journal's.
"""

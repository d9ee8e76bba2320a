"""
`pointsman demo`: a service desk whose decisions change hands, by one variable at a time.

`conversation.jsonl` is a conversation composed for this demo, `rules.py` is what the desk runs
today, `desk.py` the host program, `passes.py` what is changed, `show.py` what is printed.
"""

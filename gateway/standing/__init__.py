"""
Decisions that are made once: asked again, the same outcome comes back.

`identity` says which call a decision was made for, `stood` how it ended, `standing` keeps that in
this process and lets a flow end so; the journal keeps it for other processes.
"""

"""
The embedded decider: no key, no network, no torch.

`provider.py` is the only module that knows the gateway; read it first. It turns a state into
the words that were said (`words.py`), those into vectors (`wordpiece.py`, `encoders.py`), and
vectors into probabilities, without examples (`similarity.py`) or with them (`examples.py`,
`heads.py`). numpy is imported here and nowhere else in the package.
"""

from .provider import Local, LocalSettings

__all__ = ["Local", "LocalSettings"]

"""
The embedded decider: no key, no network, no torch.

`provider.py` is the only module that knows the gateway; read it first. It turns a state into
the words that were said (`words.py`, at most so many: `bounds.py`), those into vectors
(`wordpiece.py`, `encoders.py`, `meaning.py`), and vectors into probabilities (`outcomes.py`),
where there are examples (`examples.py`) with a head (`heads.py`) that is fitted once
(`fits.py`). numpy is imported here and nowhere else in the package.
"""

from .provider import Local, LocalSettings

__all__ = ["Local", "LocalSettings"]

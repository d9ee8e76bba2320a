"""
Hosted decision APIs: one client, and a table of endpoints.

`endpoints.py` is the table: a vendor is a row. `variables.py` reads what the operator sets,
`reaching.py` finds the row that a base URL means, `provider.py` asks, `prices.py` knows models.
"""

from .endpoints import ENDPOINTS, Endpoint
from .making import hosted
from .provider import DecisionsApi
from .variables import Hosted, JevSettings

__all__ = ["ENDPOINTS", "DecisionsApi", "Endpoint", "Hosted", "JevSettings", "hosted"]

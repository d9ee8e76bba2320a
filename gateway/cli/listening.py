"""Where the server listens: its address, resolved and taken."""

from __future__ import annotations

import errno
import os
import socket
from typing import TYPE_CHECKING

from ..errors import SetupError

if TYPE_CHECKING:
    from ..server.settings import ServerSettings

HOST, PORT = "SERVER_HOST", "SERVER_PORT"
NO_ADDRESS = "Name one of this machine's, such as 127.0.0.1 or 0.0.0.0"


def is_loopback(host: str) -> bool:
    """Whether only this machine reaches *host*; of other names than localhost nobody knows."""
    from ..server.house import is_loopback

    return is_loopback((f"[{host}]" if ":" in host else host).encode())


def resolved(served: ServerSettings) -> socket.AddressFamily:
    """
    Tell of which kind the address is.

    Raises:
        SetupError: It is none.

    """
    try:
        found = socket.getaddrinfo(_host(served), served.port, type=socket.SOCK_STREAM)
    except (socket.gaierror, UnicodeError):
        alone = f", without scheme or port: that is {PORT}" if _decorated(served.host) else ""
        raise SetupError.of(
            HOST, f"{served.host!r} is no address of a machine", NO_ADDRESS + alone
        ) from None
    return found[0][0]


def listen(served: ServerSettings) -> socket.socket:
    """
    Listen; what comes before the first worker is ready waits.

    Raises:
        SetupError: The address cannot be had.

    """
    from ..server.serving import BACKLOG

    host, family = _host(served), resolved(served)
    both = host == "::" and socket.has_dualstack_ipv6()  # every address, of both kinds
    try:
        return socket.create_server(
            (host, served.port), family=family, backlog=BACKLOG, dualstack_ipv6=both
        )
    except OSError as error:
        raise _refused(served, error) from None


def _host(served: ServerSettings) -> str:
    return served.host.strip("[]")


def _decorated(host: str) -> bool:
    return "/" in host or host.count(":") == 1


def _refused(served: ServerSettings, error: OSError) -> SetupError:
    if error.errno == errno.EADDRNOTAVAIL:
        problem = f"{served.host!r} is no address of this machine"
        return SetupError.of(HOST, problem, NO_ADDRESS)
    # Python's own text has what it was trying to do in it, and the system's twice
    why = os.strerror(error.errno) if error.errno else type(error).__name__
    fix = "End what has it, or name another"
    if error.errno == errno.EACCES:
        fix = "Name one from 1024 on, or let this user have it"
    return SetupError.of(PORT, f"port {served.port} of {served.host} cannot be had ({why})", fix)

"""
Whether the server behind a provider can be reached: by name, network, proxy and TLS.

The way is the one that a decision takes, the client's own with its proxies and certificates;
it is left before a word of a request is sent, so that nothing is asked and nothing is paid for.
"""

from __future__ import annotations

import contextlib
import os
import socket
import ssl
import time
from collections.abc import Iterator, Mapping
from concurrent.futures import Future
from contextvars import copy_context
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit
from urllib.request import getproxies, proxy_bypass

from ... import http
from ...errors import Fault
from ...plugins import Call
from ...questions import Ask
from ...threads import Daemons
from .asking import PROBE, PROBED

if TYPE_CHECKING:
    from ...plugins import Provider

SECONDS = 3.0  # for all servers together, since they are tried at the same time
CERTIFICATES = ("SSL_CERT_FILE", "SSL_CERT_DIR")
PROXIES = ("HTTPS_PROXY", "HTTP_PROXY", "ALL_PROXY")  # also in small letters
KINDS = ("http", "https", "socks5", "socks5h")
PROXY = "Correct HTTPS_PROXY, or name the server in NO_PROXY"


class _ThereAlready(Exception):
    """The connection stands."""


def address_of(provider: Provider) -> str:
    """Give the URL that *provider* would send a question to; empty where it sends none."""
    exchange = getattr(provider, "exchange", None)
    if exchange is None:
        return ""
    ask = Ask(PROBED, next(iter(PROBE.questions.values())))
    try:
        with contextlib.closing(exchange(ask, Call(point=PROBE.name))) as asking:
            return str(next(asking).url)
    except Exception:  # noqa: BLE001 - a stranger's; `--live` says more
        return ""


def unmade() -> Fault | None:
    """Say which variable of this machine keeps every server from being asked; None: none does."""
    try:
        http.sync_client().close()
    except OSError:  # those of TLS are such
        name = next((one for one in CERTIFICATES if os.environ.get(one)), CERTIFICATES[0])
        fix = "Name a file of certificates in PEM form that this user may read, or unset it"
        return Fault(name, "no certificates can be read there, so no server can be asked", fix)
    except Exception as error:  # noqa: BLE001 - its words may hold the proxy's password
        return _of_proxy(error)
    return None


def _of_proxy(error: Exception) -> Fault:
    given = {name: url for name, url in os.environ.items() if name.upper() in PROXIES and url}
    if isinstance(error, ImportError):
        name = next((one for one, url in given.items() if url.startswith("socks")), PROXIES[0])
        fix = "Run: pip install 'httpx[socks]', or name an HTTP proxy"
        return Fault(name, "it names a SOCKS proxy, which takes a library of its own", fix)
    name = next((one for one, url in given.items() if not _is_proxy(url)), PROXIES[0])
    problem = "it names no proxy that can be used, so no server can be asked"
    return Fault(name, problem, "Write it as http://host:port, or unset it")


def _is_proxy(url: str) -> bool:
    """Whether the client takes *url*: its kinds of proxies, a host, and a port that is one."""
    try:
        parts = urlsplit(url if "://" in url else f"http://{url}")
        return parts.scheme in KINDS and bool(parts.hostname) and parts.port != 0
    except ValueError:  # of a port, or of brackets
        return False


def unreached(addresses: Mapping[str, str]) -> dict[str, Fault]:
    """
    Try to reach the servers of *addresses*, all at once; give provider → what is in the way.

    Args:
        addresses: Provider → URL.

    """
    origins = {_origin(url) for url in addresses.values()}
    end = time.monotonic() + SECONDS
    tried = {origin: Daemons().submit(_tried, origin, end) for origin in origins}
    troubles = dict(_troubles(tried, end))
    return {
        name: Fault(name, f"{_shown(url)}: {problem}", fix)
        for name, url in addresses.items()
        if (problem := troubles[_origin(url)][0]) and (fix := troubles[_origin(url)][1])
    }


def _troubles(
    tried: Mapping[str, Future[tuple[str, str]]], end: float
) -> Iterator[tuple[str, tuple[str, str]]]:
    for origin, future in tried.items():
        try:
            # a name server that is silent is waited for by nobody: its thread ends with us
            yield origin, future.result(max(0.0, end - time.monotonic()) + 0.1)
        except TimeoutError:
            yield origin, _told(TimeoutError())


def _tried(origin: str, end: float) -> tuple[str, str]:
    return copy_context().run(_connected, origin, end)


def _connected(origin: str, end: float) -> tuple[str, str]:
    """Connect, and give what is in the way and what to do; nothing, twice, where nothing is."""
    http.ends_at.set(end)
    try:
        with http.sync_client() as client:
            client.send(client.build_request("HEAD", origin, extensions={"trace": _leave}))
    except _ThereAlready:
        return "", ""
    except Exception as error:  # noqa: BLE001 - what it is, its kind tells
        return _by_proxy(error) if _proxied(origin) else _told(error)
    return "", ""


def _leave(event: str, info: Mapping[str, Any]) -> None:
    """Go before a request is sent; that of a tunnel through a proxy belongs to the way."""
    if not event.endswith("send_request_headers.started"):
        return
    if getattr(info.get("request"), "method", b"") != b"CONNECT":
        raise _ThereAlready


def _told(error: BaseException) -> tuple[str, str]:
    """Tell what is in the way by the kinds of what was raised, never by its words."""
    behind = list(_behind(error))
    kinds = {name for one in behind for name in (*_named(one), *map(str, one.args))}
    if _any(behind, ssl.SSLCertVerificationError):
        fix = "Check the base URL; for a certificate of your own, name its file in SSL_CERT_FILE"
        return "its certificate is not trusted", fix
    if _any(behind, ssl.SSLError):
        return "it does not speak TLS there", "Check the base URL: http or https, and its port"
    if _any(behind, socket.gaierror, UnicodeError) or "gaierror" in kinds:
        return "its name has no address", "Check the base URL, and this machine's name server"
    if _any(behind, ConnectionRefusedError):
        return "it refuses the connection", "Start the server, or correct the base URL and its port"
    if _any(behind, TimeoutError) or "ConnectTimeout" in kinds:
        problem = f"it did not take a connection within {SECONDS:g} s"
        return problem, "Check the base URL, this machine's network, and whether it needs a proxy"
    return "it cannot be reached", "Check the base URL, and this machine's network or proxy"


def _by_proxy(error: BaseException) -> tuple[str, str]:
    """A proxy may be what cannot be reached, or what refuses to go on."""
    names = {name for one in _behind(error) for name in _named(one)}
    if "ProxyError" in names:
        return "the proxy of this machine's variables refuses to lead there", PROXY
    return f"through the proxy of this machine's variables: {_told(error)[0]}", PROXY


def _proxied(origin: str) -> bool:
    parts = urlsplit(origin)
    proxies = getproxies()
    return bool(proxies.get(parts.scheme) or proxies.get("all")) and not proxy_bypass(
        parts.hostname or ""
    )


def _any(errors: list[BaseException], *kinds: type[BaseException]) -> bool:
    return any(isinstance(one, kinds) for one in errors)


def _behind(error: BaseException | None) -> Iterator[BaseException]:
    """Give *error* and all that led to it."""
    seen: set[int] = set()
    while error is not None and id(error) not in seen:
        seen.add(id(error))
        yield error
        error = error.__cause__ or error.__context__


def _named(error: BaseException) -> list[str]:
    return [kind.__name__ for kind in type(error).__mro__]


def _origin(url: str) -> str:
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc}/"


def _shown(url: str) -> str:
    """Name a server as people do, without what its URL may hold besides."""
    return urlsplit(url).netloc.rpartition("@")[2]

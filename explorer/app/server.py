"""Serves the pages on this computer."""

from __future__ import annotations

import errno
import logging
import socket
import webbrowser
from collections.abc import Callable
from typing import Any

import panel as pn
import psutil
from tornado.web import RedirectHandler

from explorer.app.exhibit_page import exhibit_page
from explorer.app.frame import TITLE, frame, prepare, problem
from explorer.app.gallery import gallery
from explorer.app.runs_page import runs_page
from explorer.errors import BadInput, ExplorerError
from explorer.exhibits import discover
from explorer.lab import Lab
from widgets.latency import send_small_frames_at_once

ANY_ADDRESS = ("0.0.0.0", "::")
LOOPBACK = ("localhost", "127.0.0.1", "::1")

log = logging.getLogger(__name__)


def told(page: Callable[[], Any]) -> Callable[[], Any]:
    """The page, or one sentence where it cannot be made; a person never sees a traceback."""

    def guarded() -> Any:
        try:
            return page()
        except ExplorerError as error:
            return frame(problem(str(error)))
        except Exception as error:
            log.exception("a page could not be made")
            return frame(problem(f"This page could not be made: {error}. The log has the details."))

    return guarded


def _session() -> str:
    context = pn.state.curdoc.session_context if pn.state.curdoc else None
    return context.id if context else "page"


def _search() -> str:
    return pn.state.location.search if pn.state.location else ""


def pages(lab: Lab) -> dict[str, Callable[[], Any]]:
    """Every page by its route, as plain functions; a page is made when it is opened."""
    routes: dict[str, Callable[[], Any]] = {
        "/": told(lambda: gallery(lab)),
        "runs": told(lambda: runs_page(lab)),
    }
    for entry in discover():
        routes[entry.slug] = told(
            lambda slug=entry.slug: exhibit_page(slug, lab, _search(), _session())  # type: ignore[misc]
        )
    return routes


def titles() -> dict[str, str]:
    """What the browser's tab says, by route."""
    found = {"/": TITLE, "runs": f"Runs · {TITLE}"}
    return found | {e.slug: f"{e.cls.question() if e.cls else e.slug} · {TITLE}" for e in discover()}


def listen_on(host: str, port: int) -> int:
    """The port that will be listened on; a free one for 0.

    Raises:
        BadInput: the port is in use or does not exist, or the host is not this computer's.
    """
    try:
        family = socket.AF_INET6 if ":" in host else socket.AF_INET
        with socket.socket(family) as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            probe.bind((host, port))
            return int(probe.getsockname()[1])
    except OSError as error:
        if error.errno == errno.EADDRINUSE:
            raise BadInput(
                f"Port {port} on {host} is in use, perhaps by another Scaling Explorer. "
                "Close it, or choose another port with --port; --port 0 takes any free one."
            ) from None
        raise BadInput(f"Cannot listen on {host} port {port}: {error.strerror or error}.") from None
    except OverflowError:
        raise BadInput(f"There is no port {port}. Choose one from 0 to 65535.") from None


def reachable_names(host: str) -> list[str]:
    """The names under which a browser may ask for pages served on `host`; others are refused by the socket."""
    if host not in ANY_ADDRESS:
        return [host]
    addresses = [one.address for each in psutil.net_if_addrs().values() for one in each]
    kept = [address for address in addresses if "%" not in address and (":" not in address or host == "::")]
    return ["localhost", socket.gethostname(), *kept]


def serve(
    lab: Lab, host: str = "localhost", port: int = 5007, browser: bool = True, threaded: bool = False
) -> Any:
    """Serve the app until it is interrupted.

    Args:
        lab: store and engine; its first worker warms up while the page paints.
        host: where to listen; the loopback address unless chosen otherwise.
        port: 0 takes any free port.
        browser: open the gallery in the default browser.
        threaded: serve from a thread and return at once; for tests and notebooks.

    Raises:
        BadInput: the port is in use or the host is not this computer's.
    """
    port = listen_on(host, port)
    prepare()
    send_small_frames_at_once()
    server = pn.serve(
        pages(lab),
        address=host,
        port=port,
        title=titles(),
        show=False,
        start=False,
        verbose=False,
        websocket_origin=[f"{name}:{port}" for name in reachable_names(host)],
    )
    # A page under "/ladder/" would look for its files in the wrong place.
    server._tornado.add_handlers(".*", [(r"/([a-z0-9-]+)/", RedirectHandler, {"url": "/{0}"})])
    address = f"http://{'localhost' if host in ANY_ADDRESS else host}:{port}/"
    print(f"Scaling Explorer is at {address}  (stop it with Ctrl+C)", flush=True)
    if host not in LOOPBACK:
        print("Whoever can reach this computer's network address can now train on it.", flush=True)
    server.io_loop.call_later(0.2, lab.engine.warm)
    if browser:
        server.io_loop.call_later(0.1, lambda: webbrowser.open(address))
    if threaded:
        return server
    try:
        server.run_until_shutdown()
    except KeyboardInterrupt:
        pass
    finally:
        print("Stopping.", flush=True)
        lab.close()
    return server

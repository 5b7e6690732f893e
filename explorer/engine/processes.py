"""Starting worker processes: fresh ones within milliseconds, and never a copy of the app."""

from __future__ import annotations

import multiprocessing
import os
import sys
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from multiprocessing import connection, forkserver
from multiprocessing.process import BaseProcess
from typing import Any

from explorer.engine import worker
from explorer.engine.messages import ToWorker, encode

# One thread a worker; and glibc keeps freed memory, since fresh pages cost as much as the arithmetic on them.
# A file called random.py in the folder the app was started from must not be taken for Python's own.
_ENVIRONMENT = {
    "PYTHONSAFEPATH": "1",
    "OMP_NUM_THREADS": "1",
    "MKL_NUM_THREADS": "1",
    "MALLOC_MMAP_THRESHOLD_": str(1 << 30),
    "MALLOC_TRIM_THRESHOLD_": str(1 << 32),
    "MALLOC_TOP_PAD_": str(1 << 26),
}

# Starting touches the environment and __main__ of this process: one at a time, over all engines.
_starting = threading.RLock()
_forkserver_users = 0


class Worker:
    """A worker process and the app's end of the wire to it."""

    def __init__(self, process: BaseProcess, wire: connection.Connection) -> None:
        self.process = process
        self.wire = wire
        self._sending = threading.Lock()

    @property
    def alive(self) -> bool:
        return not connection.wait([self.process.sentinel], 0)

    def send(self, message: ToWorker) -> None:
        """Tell it something; from any thread. If it is gone, whoever listens to it notices."""
        data = encode(message)
        with self._sending, suppress(OSError):  # a long message goes out in parts: one at a time
            self.wire.send_bytes(data)

    def kill(self) -> None:
        """End it at once; no harm if it has ended."""
        with suppress(OSError, ValueError):  # ValueError: closed by another thread
            self.process.kill()

    def exit_code(self, patience: float) -> int | None:
        """Its exit code (minus the signal that killed it), waiting at most `patience` seconds for its end."""
        if not connection.wait([self.process.sentinel], patience):
            return None
        # The code can be read only once, and multiprocessing itself may look while another process starts.
        with _starting:
            self.process.join()
        return self.process.exitcode

    def close(self) -> None:
        """Kill it if need be, and let go of all that belongs to it."""
        self.kill()
        self.exit_code(10)
        with self._sending:  # its number may be another connection's a moment later
            self.wire.close()
        with suppress(ValueError):
            self.process.close()


class Starter:
    """Starts workers by one method.

    Args:
        method: "forkserver" or "spawn"; None takes forkserver where there is one. With spawn a worker
            that has loaded torch is kept waiting, so that work need not wait for it.
        preload: modules to load before work comes, besides torch.
    """

    def __init__(self, method: str | None = None, preload: Sequence[str] = ()) -> None:
        if method is None:
            method = "forkserver" if "forkserver" in multiprocessing.get_all_start_methods() else "spawn"
        self.method = method
        self.preload = tuple(preload)
        self._context: Any = multiprocessing.get_context(method)
        self._idle: Worker | None = None
        self._lock = threading.Lock()
        self._counted = False
        self._closed = False

    def warm(self) -> None:
        """Make the next start quick. Returns before torch is loaded."""
        if self.method == "forkserver":
            self._count_forkserver_use()
            with _starting, _worker_environment():
                self._context.set_forkserver_preload([*worker.PRELOADED, worker.__name__, *self.preload])
                forkserver.ensure_running()
            return
        with self._lock:
            if self._closed or (self._idle is not None and self._idle.alive):
                return
            self._idle = self._start_fresh()

    def start(self) -> Worker:
        """A worker that waits for its work."""
        if self.method == "forkserver":
            self.warm()
            return self._start_fresh()
        with self._lock:
            idle, self._idle = self._idle, None
        if idle is not None and idle.alive:
            return idle
        if idle is not None:
            idle.close()
        return self._start_fresh()

    def close(self) -> None:
        """End what waits: the idle worker, and the forkserver once no engine uses it."""
        global _forkserver_users
        with self._lock:
            self._closed = True
            idle, self._idle = self._idle, None
        if idle is not None:
            idle.close()
        with _starting:
            if self._counted:
                self._counted = False
                _forkserver_users -= 1
                if _forkserver_users == 0:
                    _stop_forkserver()

    def _count_forkserver_use(self) -> None:
        global _forkserver_users
        with _starting:
            if not self._counted:
                self._counted = True
                _forkserver_users += 1

    def _start_fresh(self) -> Worker:
        with _starting:
            ours, theirs = self._context.Pipe(duplex=True)
            try:
                process = self._context.Process(
                    target=worker.main,
                    args=(theirs, self.preload),
                    name="scaling-explorer worker",
                    daemon=True,
                )
                with _worker_environment(), _main_hidden():
                    process.start()
            except BaseException:
                ours.close()
                raise
            finally:
                theirs.close()  # with our copy open, the worker's death would never be heard
        return Worker(process, ours)


@contextmanager
def _worker_environment() -> Iterator[None]:
    """The workers' settings in this process's environment, for as long as a process is started."""
    before = {name: os.environ.get(name) for name in _ENVIRONMENT}
    os.environ.update(_ENVIRONMENT)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value


@contextmanager
def _main_hidden() -> Iterator[None]:
    """Keep multiprocessing from importing the user's script in the worker.

    It would run the script again where there is no `if __name__ == "__main__"`, and it would load the app's
    modules where there is one.
    """
    main = sys.modules.get("__main__")
    missing = object()
    hidden = {name: getattr(main, name, missing) for name in ("__file__", "__spec__")}
    for name, value in hidden.items():
        if value is not missing:
            setattr(main, name, None)
    try:
        yield
    finally:
        for name, value in hidden.items():
            if value is not missing:
                setattr(main, name, value)


def _stop_forkserver() -> None:
    """End the forkserver; the next start brings a new one. Otherwise it ends with this process.

    It ends only after all its children: with other people's among them, waiting for that could take for ever.
    """
    if multiprocessing.active_children():
        return
    server: Any = getattr(forkserver, "_forkserver", None)
    stop = getattr(server, "_stop", None)
    if stop is not None:
        with suppress(OSError):
            stop()

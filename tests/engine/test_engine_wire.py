"""One connection, several threads that send on it."""

import threading
import time
from types import SimpleNamespace

from explorer.engine import Job
from explorer.engine.messages import Stop, Work, for_worker
from explorer.engine.processes import Worker


class SlowWire:
    """Sends as the real one does a long message: first its length, then its content."""

    def __init__(self) -> None:
        self.parts: list[bytes] = []

    def send_bytes(self, data):
        self.parts.append(b"%d" % len(data))
        time.sleep(0.05)
        self.parts.append(data)


def test_messages_of_several_threads_do_not_mix():
    wire = SlowWire()
    worker = Worker(SimpleNamespace(), wire)
    sent = [Stop(), Work("a:b", {}, "cpu"), Work("a:b", {"size": "default"}, "cpu"), Stop()]
    threads = [threading.Thread(target=worker.send, args=(message,)) for message in sent]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    pairs = list(zip(wire.parts[::2], wire.parts[1::2], strict=True))
    assert len(pairs) == len(sent) and all(int(length) == len(data) for length, data in pairs)
    assert sorted(str(for_worker(data)) for _, data in pairs) == sorted(map(str, sent))


def test_stop_does_not_wait_for_ever_behind_a_message_that_nobody_takes():
    killed = threading.Event()

    class FullWire:
        def send_bytes(self, data):
            if not killed.wait(30):
                raise AssertionError("nobody killed the worker")
            raise BrokenPipeError

    worker = Worker(SimpleNamespace(kill=killed.set), FullWire())
    job = Job("id", "", Work("a:b", {}, "cpu"), SimpleNamespace())
    job._worker = worker
    busy = threading.Thread(target=worker.send, args=(job._work,))
    busy.start()
    job.stop()
    busy.join(10)
    assert killed.is_set() and not busy.is_alive()

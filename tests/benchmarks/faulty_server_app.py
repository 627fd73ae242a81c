"""A server on which every request meets a fault: the modes of `tests/faults`, in all three protocols.

usage: python -m tests.benchmarks.faulty_server_app
Its first line is its port and the number of modes. A prompt `mode N` meets mode N; the path begins with the protocol.
The mode after the last is an answer over the limit of 16 MiB.
"""

import asyncio
import contextlib
import re
from importlib import import_module

from tests.faults.fault_server import FaultServer, Mode
from tests.faults.wires import WIRES
from tests.support.model_server import Asked, ModelServer
from tests.support.replies import Reply

_MODULES = ("bodies", "connections", "headers", "keys", "sizes", "statuses", "streams")
# These stop the queue of the provider, so that the other trials would meet nothing.
_STOPPING = ("unauthorized",)
_LARGEST = "17 MiB as a stream"
_BY_NAME = {wire.name: wire for wire in WIRES}


def _modes() -> list[Mode]:
    """Return the modes that a server can serve under the usual limits, and that concern one trial, the largest last."""
    found: list[Mode] = []
    for name in _MODULES:
        found += import_module(f"tests.faults.test_{name}").MODES
    usable = [
        mode
        for mode in found
        if mode.make is not None
        and not mode.limits
        and not any(mode.expected_in(wire, stream=True).fault in _STOPPING for wire in WIRES)
    ]
    return sorted(usable, key=lambda mode: mode.name == _LARGEST)


async def _main() -> None:
    faults, modes = FaultServer(), _modes()

    def script(asked: Asked) -> Reply:
        mode, wire = modes[_number(asked)], _BY_NAME[asked.path.split("/")[1]]
        reply = faults.reply_of(mode, wire, stream=True)
        return reply if isinstance(reply, Reply) else reply(asked)

    async with ModelServer(script, record=False) as server:
        print(server.port, len(modes) - 1, flush=True)
        await server.serve_forever()


def _number(asked: Asked) -> int:
    found = re.search(rb"mode (\d+)", asked.raw)
    assert found is not None
    return int(found[1])


if __name__ == "__main__":
    with contextlib.suppress(KeyboardInterrupt):
        asyncio.run(_main())

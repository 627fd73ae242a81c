"""The program that serves a local model: llama.cpp on loopback in a guarded process, until Assay closes its input.

The guard loads it with the standard library and xllamacpp. It reads one line, `{"path", "alias", "key", "threads",
"slots", "slot_tokens", "most_tokens"}`, and writes one, `{"url"}` or `{"fault"}`.
"""

import contextlib
import ctypes
import json
import os
from typing import Any


def serve() -> None:
    """Load the model, report its URL, and serve until the input ends."""
    orders, answers = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    null = os.open(os.devnull, os.O_RDONLY)
    os.dup2(null, 0)
    os.dup2(2, 1)
    order = json.loads(orders.readline())
    try:
        server = _start(order)
        reply = {"url": server.listening_address}
    except Exception as error:  # noqa: BLE001 - it crosses to Assay as a sentence
        reply = {"fault": f"{type(error).__name__}: {error}"}
    answers.write(json.dumps(reply).encode() + b"\n")
    answers.flush()
    if "fault" in reply:
        _flush_log()
    else:
        orders.read()
    os._exit(0)


def _start(order: dict[str, Any]) -> Any:
    import xllamacpp

    params = xllamacpp.CommonParams()
    params.model.path = order["path"]
    params.model_alias = {order["alias"]}
    params.hostnames = ["127.0.0.1"]
    params.port = 0
    params.api_keys = [order["key"]]
    params.ui = False
    params.endpoint_slots = False
    params.n_parallel = order["slots"]
    params.n_ctx = order["slots"] * order["slot_tokens"]
    params.n_predict = order["most_tokens"]
    params.fit_params = False
    # An answer must not depend on earlier or concurrent requests. Flash attention rounds differently for parts of a
    # prompt shorter than its tile, and the prompts beside it decide into which parts a prompt is cut.
    params.flash_attn_type = xllamacpp.llama_flash_attn_type.LLAMA_FLASH_ATTN_TYPE_DISABLED
    params.kv_unified = False
    params.cache_prompt = False
    params.cache_ram_mib = 0
    for threads in (params.cpuparams, params.cpuparams_batch):
        threads.n_threads = order["threads"]
    return xllamacpp.Server(params)


def _flush_log() -> None:
    """Wait until llama.cpp has written its log, whose last lines say what is wrong with the file.

    A thread writes the log, and llama.cpp never waits for it, not even at exit. Python cannot reach the log: these are
    the C++ names of `common_log_main()` and `common_log_pause(common_log *)`.
    """
    with contextlib.suppress(ImportError, AttributeError):  # not installed, or built without these names
        from xllamacpp import xllamacpp

        functions = ctypes.CDLL(xllamacpp.__file__)
        find_log, pause = functions["_Z15common_log_mainv"], functions["_Z16common_log_pauseP10common_log"]
        find_log.restype, pause.argtypes = ctypes.c_void_p, (ctypes.c_void_p,)
        pause(find_log())


if __name__ == "__main__":
    serve()

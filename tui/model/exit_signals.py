"""The signals that ask Assay to end, with the exit code for each."""

import signal

_CODES = {"SIGINT": 130, "SIGTERM": 143, "SIGHUP": 129}


def exit_signals(**more: int) -> dict[int, int]:
    """Return the exit code for each signal by its number. `more` are codes of further signals by name.

    A signal that this process was started to ignore is left out: SIGHUP under nohup, SIGINT in a background job.
    """
    numbers = {getattr(signal, name, None): code for name, code in {**_CODES, **more}.items()}
    return {
        number: code for number, code in numbers.items() if number and signal.getsignal(number) is not signal.SIG_IGN
    }

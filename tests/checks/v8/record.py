"""Record what V8 says of pairs of a pattern and a text: `python -m tests.checks.v8.record`, with `node` on the PATH.

Each line of the file is a JSON array `[pattern, text, answer]`; the first line names the version of V8.
"""

import json
import subprocess
from collections.abc import Iterator
from itertools import chain
from pathlib import Path

from tests.checks.v8.comparison import Answer, answers_of_v8
from tests.checks.v8.families import written_pairs
from tests.checks.v8.pairs import Pair, make_pairs

RECORDED = Path(__file__).with_name("recorded.jsonl")
_SEED, _GENERATED = 8, 2_500


def recorded() -> Iterator[tuple[Pair, Answer]]:
    """Yield each recorded pair with V8's answer."""
    for line in RECORDED.read_text(encoding="utf-8").splitlines()[1:]:
        pattern, text, answer = json.loads(line)
        yield (pattern, text), answer


def main() -> None:
    """Write the file."""
    pairs = list(dict.fromkeys(chain(written_pairs(), make_pairs(_SEED, _GENERATED))))
    versions = subprocess.run(["node", "-p", "process.versions.v8"], capture_output=True, text=True, check=True).stdout
    lines = [json.dumps({"v8": versions.strip()})]
    for pair, answer in zip(pairs, answers_of_v8("node", pairs), strict=True):
        lines.append(json.dumps([*pair, answer], separators=(",", ":")))
    RECORDED.write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()

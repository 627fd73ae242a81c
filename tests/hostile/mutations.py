"""Files with faults in them: seeded, so that a failure can be repeated by its number."""

import random
from collections.abc import Iterator, Sequence

# Each is legal text somewhere, and a fault or an attack elsewhere.
_PIECES = tuple(
    text.encode("utf-8", "surrogatepass")
    for text in (
        *("", "{", "}", "[", "]", '"', "'", ":", ": ", ",", "\n", "\r\n", "\t", "- ", "? ", "&a ", "*a", "|", ">", "#"),
        *("<<: *a\n", "!!python/object:os.system ", "!!binary ", "%YAML 9.9\n", "---\n", "...\n", "null", "true", "~"),
        *("NaN", "-.inf", "1e999", "-1", "0x10", "1_000", "9" * 25, "9" * 400, "9" * 5000, "1e-400", "2026-13-45"),
        *("9999-12-31T23:59:59.999999+14:00", "\\ud800", "\\u0000", "\x00", "\x1b[2J", "\x1b]0;x\x07", "\u202e"),
        *("\u2028", "\ufeff", "\ud800", "\U000e0041", "../../etc/passwd", "/etc/passwd", "~/.ssh/id_rsa", "C:\\x"),
        *("${HOME}", "${", "[/foo]", "[@click=app.quit]x[/]", "(a+)+$", "(?<=a*)b", "(", "a" * 70_000, "[" * 200),
        *('{"a":' * 200, "é" * 300),
    )
)


def mutations(originals: Sequence[bytes], count: int, seed: int) -> Iterator[bytes]:
    """Yield `count` files, each an original with one to four faults: cut, repeated, flipped or inserted bytes."""
    chance = random.Random(seed)
    for _ in range(count):
        data = bytearray(chance.choice(originals))
        for _ in range(chance.randint(1, 4)):
            start = chance.randint(0, len(data))
            end = min(len(data), start + chance.choice((1, 3, 20, 200)))
            match chance.randrange(6):
                case 0:
                    del data[start:end]
                case 1:
                    data[start:start] = data[start:end] * chance.randint(1, 20)
                case 2:
                    data[start:end] = chance.choice(_PIECES)
                case 3:
                    data[start:start] = chance.choice(_PIECES)
                case 4 if data:
                    data[start % len(data)] ^= 1 << chance.randrange(8)
                case _:
                    del data[start:]
                    data += chance.choice(originals)[start:]
        yield bytes(data)

"""How large and how deep a suite may be; a stranger's file must not stop the program."""

MOST_JSON_BYTES = 16 * 1024 * 1024
MOST_YAML_BYTES = 1024 * 1024
MOST_DEPTH = 64
MOST_VALUES = 500_000
MOST_YAML_VALUES = 250_000
# As many digits as Python's own limit for turning text into a number.
MOST_DIGITS = 4_300
# What aliases may add to a YAML file: what the same suite may hold as JSON.
MOST_ALIASED_VALUES = 100_000
MOST_ALIASED_CHARACTERS = MOST_JSON_BYTES

TOO_DEEP = f"is nested deeper than {MOST_DEPTH} levels; a suite needs no more than a few"

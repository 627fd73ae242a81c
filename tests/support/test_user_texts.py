"""Which strings of a module are texts that a user can see."""

from tests.support.user_texts import UserText, user_texts

MODULE = '''"""What the module is."""

NAME = "key"
"""What the name is."""
DEFAULT_CSS = "Tree { width: 1; }"
QUERY = "SELECT id FROM run"


@click.command()
def run() -> None:
    """Run suites."""
    say(f"Saved {path:>4}" " twice")


def helper() -> None:
    """Help."""
    return "Label"
'''


def test_texts_are_sentences_labels_and_command_help() -> None:
    assert user_texts(MODULE) == [
        UserText(11, "Run suites."),
        UserText(12, "Saved {path} twice"),
        UserText(17, "Label"),
    ]

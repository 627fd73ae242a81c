"""Texts that a field of a form can or cannot edit."""

from tui.model.sanitize import remove_unseen


def is_shown_whole(text: str, *, is_line: bool) -> bool:
    """Return whether a field displays every character of a text; `is_line` means a field of one line."""
    return remove_unseen(text) == text and not (is_line and "\n" in text)


def text_refusal(text: str, longest: int, *, is_line: bool) -> str:
    """Return why a text cannot be edited in a field of `longest` characters, or an empty text."""
    if len(text) > longest:
        return f"has more than {longest:,} characters; edit it in the file"
    if not is_shown_whole(text, is_line=is_line):
        return "has characters that are not visible here; edit it in the file"
    return ""

"""An HTML page as a test reads it."""

from collections import Counter
from collections.abc import Sequence
from html.parser import HTMLParser


class Page(HTMLParser):
    """The elements of a page, their attributes, and the text between them."""

    VOID = frozenset({"meta", "rect", "line", "circle", "path"})

    def __init__(self, text: str) -> None:
        super().__init__(convert_charrefs=True)
        self.tags: dict[str, int] = {}
        self.elements: Counter[tuple[str, tuple[tuple[str, str | None], ...]]] = Counter()
        self.attributes: set[tuple[str, str]] = set()
        self.open: list[str] = []
        self.texts: list[str] = []
        self.marks: list[tuple[str, str]] = []
        self.feed(text)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: Sequence[tuple[str, str | None]]) -> None:
        self.tags[tag] = self.tags.get(tag, 0) + 1
        self.elements[tag, tuple(attrs)] += 1
        self.attributes.update((name, value or "") for name, value in attrs)
        if tag not in self.VOID:
            self.open.append(tag)
        if tag == "mark":
            self.marks.append((str(dict(attrs)["class"]), ""))

    def handle_endtag(self, tag: str) -> None:
        if tag not in self.VOID:
            assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if "style" not in self.open:
            self.texts.append(data)
        if "mark" in self.open:
            kind, text = self.marks.pop()
            self.marks.append((kind, text + data))

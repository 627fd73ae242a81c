"""The places of the values in the text of a YAML or JSON file."""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from tui.documents.positions import Branch, Tree, start_of


@dataclass(slots=True)
class Place:
    """The range of a value in the text, and the values in it.

    `style` is the style of a YAML scalar (`'`, `"`, `|`, `>`, or empty), `flow` whether a list or an object is written
    in brackets. `alias` is the anchor that an alias refers to. `key_start` is where its key begins, if it has one.
    """

    start: int
    end: int
    style: str = ""
    flow: bool = True
    anchor: str = ""
    alias: str = ""
    items: list["Place"] | None = None
    members: dict[str, "Place"] | None = None
    key_start: int = 0

    def below(self, step: str | int) -> "Place | None":
        """Return the place of an item or a member, or None."""
        if isinstance(step, str):
            return self.members.get(step) if self.members is not None else None
        return self.items[step] if self.items is not None and step < len(self.items) else None


def all_places(place: Place) -> Iterator[Place]:
    """Yield a place and all places below it."""
    yield place
    for inner in (*(place.items or ()), *(place.members or {}).values()):
        yield from all_places(inner)


_DECODER = json.JSONDecoder()


def json_place(text: str, tree: Tree) -> Place:
    """Return the places of a valid JSON value; the end of each is found by reading it once more."""
    start = start_of(tree)
    place = Place(start, _DECODER.raw_decode(text, start)[1])
    if isinstance(tree, Branch) and tree.members is not None:
        place.members = {key: json_place(text, inner) for key, (_, inner) in tree.members.items()}
        for key, (key_start, _) in tree.members.items():
            place.members[key].key_start = key_start
    elif isinstance(tree, Branch) and tree.items is not None:
        place.items = [json_place(text, inner) for inner in tree.items]
    return place


@dataclass(slots=True)
class _OpenPlace:
    """A list or an object of which more values follow; `key` is the key of the next value."""

    place: Place
    last_end: int
    key: str | None = None
    key_start: int = 0

    def put(self, place: Place, key: str | None) -> None:
        """Add the next value, or set the key of the next value; `key` is the text of a scalar."""
        self.last_end = max(self.last_end, place.end)
        if self.place.items is not None:
            self.place.items.append(place)
        elif self.key is None:
            self.key, self.key_start = key or "", place.start
        elif self.place.members is not None:
            place.key_start = self.key_start
            self.place.members[self.key] = place
            self.key = None


def yaml_places(text: str) -> tuple[Place, frozenset[str]]:
    """Return the places of a valid YAML value, and the anchors that aliases refer to."""
    import yaml

    aliased: set[str] = set()
    open_places: list[_OpenPlace] = []
    place = Place(0, 0)
    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)(text)
    try:
        while loader.check_event():
            event: Any = loader.get_event()
            start, end, anchor, key = event.start_mark.index, event.end_mark.index, getattr(event, "anchor", ""), None
            match event:
                case yaml.MappingStartEvent():
                    opened = Place(start, end, flow=bool(event.flow_style), anchor=anchor or "", members={})
                    open_places.append(_OpenPlace(opened, start))
                    continue
                case yaml.SequenceStartEvent():
                    opened = Place(start, end, flow=bool(event.flow_style), anchor=anchor or "", items=[])
                    open_places.append(_OpenPlace(opened, start))
                    continue
                case yaml.MappingEndEvent() | yaml.SequenceEndEvent():
                    closed = open_places.pop()
                    place = closed.place
                    # The reported end of a block is behind the comments and blank lines that follow it.
                    place.end = end if place.flow else closed.last_end
                case yaml.ScalarEvent():
                    if event.style in ("|", ">"):  # its reported end is behind the blank lines that follow it
                        end = start + len(text[start:end].rstrip())
                    place, key = Place(start, end, event.style or "", False, anchor or ""), event.value
                case yaml.AliasEvent():
                    aliased.add(anchor)
                    place = Place(start, end, alias=anchor)
                case _:
                    continue
            if open_places:
                open_places[-1].put(place, key)
    finally:
        loader.dispose()
    return place, frozenset(aliased)

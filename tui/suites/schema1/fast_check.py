"""A fast check that many objects fit one shape, field by field.

It reads the same annotations as pydantic. Pydantic accepts everything that it accepts; everything else has to be
validated by pydantic.
"""

import types
from collections.abc import Callable, Collection
from functools import cache
from itertools import chain
from typing import (
    Annotated,
    Any,
    Literal,
    NotRequired,
    Required,
    TypeAlias,
    Union,
    get_args,
    get_origin,
    get_type_hints,
)

from annotated_types import Ge, Le, MinLen
from pydantic.fields import FieldInfo
from typing_extensions import is_typeddict

# Counts the keys of all objects in the values. Raises _Misfit.
_Count: TypeAlias = Callable[[Collection[Any]], int]
_PLAIN: dict[object, set[type]] = {str: {str}, bool: {bool}, int: {int}}


class _Misfit(Exception):
    """Some of the values may not fit the shape."""


def keys_in(shape: Any, objects: list[Any]) -> int | None:
    """Return the total number of keys of the objects and their nested objects, or None.

    None means that some object may not fit the shape (a closed TypedDict).
    """
    try:
        return _count_of(shape)(objects)
    except _Misfit:
        return None


@cache
def _count_of(shape: Any) -> _Count:
    fields = {key: _count_of_values(hint, []) for key, hint in get_type_hints(shape, include_extras=True).items()}
    required, known = shape.__required_keys__, set(fields)

    def count(objects: Collection[Any]) -> int:
        _expect(_all_of(objects, {dict}))
        layouts = set(map(tuple, objects))
        _expect(all(required.issubset(layout) and known.issuperset(layout) for layout in layouts))
        everywhere = known.intersection(*layouts)
        keys = sum(map(len, objects))
        for key in known.intersection(chain.from_iterable(layouts)):
            if key in everywhere:
                keys += fields[key]([item[key] for item in objects])
            else:
                keys += fields[key]([item[key] for item in objects if key in item])
        return keys

    return count


def _count_of_values(hint: Any, limits: list[Any]) -> _Count:
    origin = get_origin(hint)
    if origin in (NotRequired, Required):
        return _count_of_values(get_args(hint)[0], limits)
    if origin is Annotated:
        inner, *details = get_args(hint)
        found = [limit for detail in details for limit in (detail.metadata if isinstance(detail, FieldInfo) else [])]
        return _count_of_values(inner, limits + found)
    if origin is Literal and not limits:
        words = frozenset(get_args(hint))
        return _leaf(lambda values: _all_of(values, {str}) and words.issuperset(values))
    if origin is list and not limits:
        return _count_of_lists(_count_of_values(get_args(hint)[0], []))
    if is_typeddict(hint):
        return _count_of(hint)
    if origin in (Union, types.UnionType) and not limits:
        return _count_of_texts_or_others(*get_args(hint))
    if limits and hint is int:
        return _leaf(_accepts_range(limits))
    if limits == [MinLen(1)] and hint is str:
        return _leaf(lambda values: _all_of(values, {str}) and all(values))
    if limits or hint not in _PLAIN:
        return _leaf(lambda values: not values)
    return _leaf(lambda values: _all_of(values, _PLAIN[hint]))


def _count_of_lists(count_items: _Count) -> _Count:
    def count(values: Collection[Any]) -> int:
        _expect(_all_of(values, {list}))
        return count_items(list(chain.from_iterable(values)))

    return count


def _count_of_texts_or_others(text: Any, *others: Any) -> _Count:
    if len(others) != 1 or get_origin(text) is not Annotated or get_args(text)[0] is not str:
        return _leaf(lambda values: not values)
    count_texts, count_others = _count_of_values(text, []), _count_of_values(others[0], [])

    def count(values: Collection[Any]) -> int:
        texts = [value for value in values if isinstance(value, str)]
        return count_texts(texts) + count_others([value for value in values if not isinstance(value, str)])

    return count


def _leaf(accepts: Callable[[Collection[Any]], bool]) -> _Count:
    def count(values: Collection[Any]) -> int:
        _expect(accepts(values))
        return 0

    return count


def _accepts_range(limits: list[Any]) -> Callable[[Collection[Any]], bool]:
    lows = [limit.ge for limit in limits if isinstance(limit, Ge)]
    highs = [limit.le for limit in limits if isinstance(limit, Le)]
    if len(lows) + len(highs) < len(limits):
        return lambda values: not values
    return lambda values: (
        _all_of(values, {int})
        and all(min(values, default=low) >= low for low in lows)
        and all(max(values, default=high) <= high for high in highs)
    )


def _all_of(values: Collection[Any], kinds: set[type]) -> bool:
    return kinds.issuperset(map(type, values))


def _expect(holds: bool) -> None:
    if not holds:
        raise _Misfit

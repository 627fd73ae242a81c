"""Accepts many objects of one shape at once, field by field: the fast way to say that nothing is wrong.

It reads the same annotations as pydantic. True means that pydantic would find nothing; False means: ask pydantic.
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

from annotated_types import Ge, Le
from pydantic.fields import FieldInfo
from typing_extensions import is_typeddict

Accepts: TypeAlias = Callable[[Collection[Any]], bool]
_PLAIN: dict[object, set[type]] = {str: {str}, bool: {bool}, int: {int}}


def fits(shape: Any, objects: list[Any]) -> bool:
    """Whether every one of the objects is of the shape (a closed TypedDict) for certain."""
    return _accepts(shape)(objects)


@cache
def _accepts(shape: Any) -> Accepts:
    fields = {key: _accepts_values(hint, []) for key, hint in get_type_hints(shape, include_extras=True).items()}
    required, known = shape.__required_keys__, set(fields)

    def accepts(objects: Collection[Any]) -> bool:
        if not _all_of(objects, {dict}):
            return False
        layouts = set(map(tuple, objects))
        if not all(required.issubset(layout) and known.issuperset(layout) for layout in layouts):
            return False
        everywhere = known.intersection(*layouts)
        for key in known.intersection(chain.from_iterable(layouts)):
            if key in everywhere:
                values = [item[key] for item in objects]
            else:
                values = [item[key] for item in objects if key in item]
            if not fields[key](values):
                return False
        return True

    return accepts


def _accepts_values(hint: Any, limits: list[Any]) -> Accepts:
    origin = get_origin(hint)
    if origin in (NotRequired, Required):
        return _accepts_values(get_args(hint)[0], limits)
    if origin is Annotated:
        inner, *details = get_args(hint)
        found = [limit for detail in details for limit in (detail.metadata if isinstance(detail, FieldInfo) else [])]
        return _accepts_values(inner, limits + found)
    if origin is Literal and not limits:
        words = frozenset(get_args(hint))
        return lambda values: _all_of(values, {str}) and words.issuperset(values)
    if origin is list and not limits:
        accepts_items = _accepts_values(get_args(hint)[0], [])
        return lambda values: _all_of(values, {list}) and accepts_items(list(chain.from_iterable(values)))
    if is_typeddict(hint):
        return _accepts(hint)
    if origin in (Union, types.UnionType) or hint not in _PLAIN:
        return lambda values: not values
    if limits and hint is int:
        return _accepts_range(limits)
    return (lambda values: not values) if limits else (lambda values: _all_of(values, _PLAIN[hint]))


def _accepts_range(limits: list[Any]) -> Accepts:
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

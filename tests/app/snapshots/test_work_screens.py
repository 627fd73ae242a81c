"""The work screens in the other sizes and in a light theme, compared with their stored pictures (see `comparison.py`).

`test_narrow.py` and `test_wide.py` have the dark theme at 80×24 and 160×45.
"""

from dataclasses import replace
from pathlib import Path

import pytest

from tests.app.snapshots.comparison import compare
from tests.app.snapshots.scenes import LIGHT, WORK_SCENES, Scene

Size = tuple[int, int]
ALL_SIZES: tuple[Size, ...] = ((80, 24), (120, 40), (160, 45), (250, 70))


def describe(value: Scene | Size) -> str:
    return value.name if isinstance(value, Scene) else "{}x{}".format(*value)


@pytest.mark.long
@pytest.mark.parametrize("scene", WORK_SCENES, ids=describe)
@pytest.mark.parametrize("size", [(120, 40), (250, 70)], ids=describe)
async def test_dark(scene: Scene, size: Size, fixed_world: Path, snapshot_update: bool) -> None:
    await compare(scene, size, fixed_world, snapshot_update)


@pytest.mark.long
@pytest.mark.parametrize("scene", WORK_SCENES, ids=describe)
@pytest.mark.parametrize("size", ALL_SIZES, ids=describe)
async def test_light(scene: Scene, size: Size, fixed_world: Path, snapshot_update: bool) -> None:
    await compare(replace(scene, name=f"{scene.name}-light", theme=LIGHT), size, fixed_world, snapshot_update)

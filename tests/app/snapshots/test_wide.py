"""Every screen and dialog in a wide terminal, compared with its stored picture (see `comparison.py`)."""

from pathlib import Path

import pytest

from tests.app.snapshots.comparison import compare
from tests.app.snapshots.scenes import SCENES, Scene


@pytest.mark.parametrize("scene", SCENES, ids=lambda scene: scene.name)
async def test_screen(scene: Scene, fixed_world: Path, snapshot_update: bool) -> None:
    await compare(scene, (160, 45), fixed_world, snapshot_update)

"""Every screen and dialog in a narrow terminal, compared with its stored picture (see `comparison.py`)."""

from pathlib import Path

import pytest

from tests.app.snapshots.comparison import compare
from tests.app.snapshots.scenes import LIGHT, SCENES, Scene


@pytest.mark.parametrize("scene", [scene for scene in SCENES if scene.theme != LIGHT], ids=lambda scene: scene.name)
async def test_screen(scene: Scene, fixed_world: Path, snapshot_update: bool) -> None:
    await compare(scene, (80, 24), fixed_world, snapshot_update)

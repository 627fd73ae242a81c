"""Every screen and dialog in a wide terminal, compared with its stored picture (see `comparison.py`).

The short suite has the work screens in this size and the light theme; the others are in `test_narrow.py`.
"""

from pathlib import Path

import pytest

from tests.app.snapshots.comparison import compare
from tests.app.snapshots.scenes import LIGHT, SCENES, WORK_SCENES, Scene

SHORT = tuple(scene for scene in SCENES if scene in WORK_SCENES or scene.theme == LIGHT)
MARKED = [pytest.param(scene, marks=[] if scene in SHORT else [pytest.mark.long]) for scene in SCENES]


@pytest.mark.parametrize("scene", MARKED, ids=lambda scene: scene.name)
async def test_screen(scene: Scene, fixed_world: Path, snapshot_update: bool) -> None:
    await compare(scene, (160, 45), fixed_world, snapshot_update)

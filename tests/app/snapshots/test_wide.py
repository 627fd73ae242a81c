"""Every screen and dialog in a wide terminal, compared with its stored picture (see `comparison.py`).

The short suite has answers in both themes and the matrix in this size; the others are in `test_narrow.py`.
"""

from pathlib import Path

import pytest

from tests.app.snapshots.comparison import compare
from tests.app.snapshots.scenes import SCENES, Scene

SHORT = ("explore-answers", "explore-answers-light", "matrix")
MARKED = [pytest.param(scene, marks=[] if scene.name in SHORT else [pytest.mark.long]) for scene in SCENES]


@pytest.mark.parametrize("scene", MARKED, ids=lambda scene: scene.name)
async def test_screen(scene: Scene, fixed_world: Path, snapshot_update: bool) -> None:
    await compare(scene, (160, 45), fixed_world, snapshot_update)

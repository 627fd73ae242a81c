"""Every screen and dialog in a narrow terminal, compared with its stored picture (see `comparison.py`).

The short suite has each screen and each dialog once; other states of one that is among them are long.
"""

from pathlib import Path

import pytest

from tests.app.snapshots.comparison import compare
from tests.app.snapshots.scenes import LIGHT, SCENES, Scene

OTHER_STATES = (
    *("explore-not-run", "explore-pages", "explore-zoomed", "explore-filter-keys", "explore-attempts"),
    *("explore-diff-zoomed", "explore-diff-both-models", "block-chooser", "case-faults", "case-check"),
    *("review-several", "review-answers", "model-chooser-unfolded", "setting"),
    *("explore-suite", "explore-data-set", "explore-error", "model-chooser-search"),
)
MARKED = [
    pytest.param(scene, marks=[pytest.mark.long] if scene.name in OTHER_STATES else [])
    for scene in SCENES
    if scene.theme != LIGHT
]


@pytest.mark.parametrize("scene", MARKED, ids=lambda scene: scene.name)
async def test_screen(scene: Scene, fixed_world: Path, snapshot_update: bool) -> None:
    await compare(scene, (80, 24), fixed_world, snapshot_update)

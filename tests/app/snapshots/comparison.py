"""Compares a scene with its stored picture.

`uv run pytest tests/app/snapshots -m "" --snapshot-update` stores the screens as they are now in all sizes and themes,
with `-k review` only those whose name contains `review`. Look at the changed pictures in `pictures/` (a browser shows
them) before you commit them. The pictures in `docs/pictures/` are copies, which the same command replaces.
"""

from pathlib import Path

import pytest

from tests.app.snapshots.picture import describe_difference
from tests.app.snapshots.scenes import Scene, play
from tests.app.snapshots.stage import staged

PICTURES = Path(__file__).parent / "pictures"
DOCUMENT_PICTURES = Path(__file__).parents[3] / "docs" / "pictures"


async def compare(scene: Scene, size: tuple[int, int], folder: Path, update: bool) -> None:
    """Play the scene in the folder and compare it with its picture, or store it as the picture."""
    file = PICTURES / f"{scene.name}-{size[0]}x{size[1]}.svg"
    async with staged(scene.session, folder, size, scene.theme) as stage:
        await play(scene, stage)
        if update:
            picture = await stage.still(0.4)
            file.write_text(picture, encoding="utf-8")
            copy = DOCUMENT_PICTURES / file.name
            if copy.exists():
                copy.write_text(picture, encoding="utf-8")
            return
        stored = file.read_text(encoding="utf-8") if file.exists() else ""
        current = await stage.still(3, until=stored)
    if current != stored:
        difference = describe_difference(stored, current)
        pytest.fail(f"The screen differs from {file.name} (--snapshot-update stores it):\n{difference}", pytrace=False)

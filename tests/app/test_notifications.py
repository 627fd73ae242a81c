"""Notifications that are held back and shown later."""

import asyncio
from typing import Any

from tui.app.notifications import NotificationHold


def test_held_notifications_are_shown_after_the_release() -> None:
    shown: list[tuple[str, dict[str, Any]]] = []
    cleared: list[bool] = []
    hold = NotificationHold(lambda message, **options: shown.append((message, options)), lambda: cleared.append(True))
    hold.notify("first", timeout=3)
    hold.hold()
    hold.hold()
    assert cleared == [True]
    hold.notify("second", severity="error")
    hold.show_now("third")
    assert [message for message, _ in shown] == ["first", "third"]
    hold.release()
    hold.notify("fourth")
    assert shown[2:] == [("second", {"severity": "error"}), ("fourth", {})]


def test_only_the_last_of_many_held_notifications_are_shown() -> None:
    shown: list[str] = []
    hold = NotificationHold(lambda message: shown.append(message), lambda: None)
    hold.hold()
    for number in range(80):
        hold.notify(str(number))
    hold.release()
    assert shown == [str(number) for number in range(30, 80)]


async def test_a_question_waits_until_nothing_is_held() -> None:
    hold = NotificationHold(print, lambda: None)
    await hold.wait_until_released()
    hold.hold()
    waiting = asyncio.ensure_future(hold.wait_until_released())
    await asyncio.sleep(0)
    assert not waiting.done()
    hold.release()
    await waiting


def test_notifications_wait_until_every_question_is_answered_and_names_are_shown() -> None:
    shown: list[str] = []
    hold = NotificationHold(shown.append, shown.clear)
    hold.notify("first")
    with hold.until_answered():
        with hold.until_answered():
            hold.notify("second")
        hold.notify("third")
        hold.hold()
        hold.release()
        hold.show_now("fourth")
        assert shown == ["fourth"]
        hold.hold()
    assert shown == []
    hold.release()
    assert shown == ["second", "third"]

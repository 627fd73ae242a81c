"""How a variant's settings are told."""

from tui.model.subjects import Settings, told_settings


def test_every_setting_that_is_no_default_is_told() -> None:
    every = Settings(temperature=0.0, top_p=0.9, seed=7, max_tokens=100, system="Be brief.", api="responses")
    assert told_settings(every, "its own") == [
        "temperature 0.0", "top_p 0.9", "seed 7", "max tokens 100", "system its own", "api responses",
    ]  # fmt: skip
    assert told_settings(Settings(api="chat"), None) == ["api chat"]
    assert told_settings(Settings(), None) == []

"""How a variant's settings are told."""

from tui.model.subjects import Settings, settings_text


def test_every_setting_that_is_not_the_default_is_shown() -> None:
    every = Settings(temperature=0.0, top_p=0.9, seed=7, max_tokens=100, system="Be brief.", api="responses")
    assert settings_text(every, "its own") == [
        "temperature 0.0", "top_p 0.9", "seed 7", "max tokens 100", "system its own", "api responses",
    ]  # fmt: skip
    assert settings_text(Settings(api="chat"), None) == ["api chat"]
    assert settings_text(Settings(), None) == []

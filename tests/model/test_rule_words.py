"""The rule of bands as a person reads it."""

from tui.model.risk import BandRule, rule_rows, rule_sentence

TAIL = " The band of an answer is the band of its worst criterion."


def test_the_table_tells_each_product_and_its_band() -> None:
    rows = rule_rows(BandRule())
    assert rows[0] == ("Severity", "Weight", "0 none", "1 slight", "2 partial", "3 major", "4 total")
    assert rows[2] == ("medium", "2", "0 negligible", "2 low", "4 medium", "6 high", "8 high")
    assert [row[0] for row in rows[1:]] == ["low", "medium", "high", "critical"]


def test_the_sentence_is_the_published_rule() -> None:
    sentence = "Weight × extent determines the band: 0 negligible, 1–2 low, 3–5 medium, 6–9 high, 10–16 critical."
    assert rule_sentence(BandRule()) == sentence + TAIL


def test_no_band_is_named_that_nothing_can_reach() -> None:
    ones = BandRule(weights={"low": 1, "medium": 1, "high": 1, "critical": 1})
    assert rule_sentence(ones) == "Weight × extent determines the band: 0 negligible, 1–2 low, 3–4 medium." + TAIL
    exact = BandRule(limits=(("negligible", 0), ("low", 2), ("medium", 5), ("high", 15)))
    assert "6–15 high, 16 critical." in rule_sentence(exact)

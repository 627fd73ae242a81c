"""The rule of bands is the published table."""

from tui.model.risk import BandRule


def test_the_published_table() -> None:
    rule = BandRule()
    assert [[rule.band(severity, extent) for extent in range(5)] for severity in rule.weights] == [
        ["negligible", "low", "low", "medium", "medium"],
        ["negligible", "low", "medium", "high", "high"],
        ["negligible", "medium", "high", "high", "critical"],
        ["negligible", "medium", "high", "critical", "critical"],
    ]

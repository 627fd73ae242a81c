"""Texts as answers have them and as nobody should write them, for property tests."""

from hypothesis import strategies as st

NASTY = (
    *("a", "b", "word", "wordy", "-", ".", "(", "\t", "\n", "\r", "\r\n", "```", "~~~", "```python", "…", "“"),
    *("é", "ñ", "漢", "字", "か", "한", "ｶ", "﷽", "क्षि", "☃", "e\u0301", "\u0301", "Z\u0351\u036b\u0343\u0340!"),
    *("🎉", "👩\u200d💻", "❤\ufe0f", "🇩🇪", "👍🏽", "\u200d", "\ufe0f", "\ufe0e", "1\ufe0f\u20e3", "\u20e3"),
    *("\u202e", "\x1b[31m", "\x07", "\x00", "\u200b", "\ud800", "\u2028", "\x85", "\ufffe", "\ufe00"),
)

pieces = st.one_of(st.sampled_from([*NASTY, " ", "  "]), st.text(max_size=4))
raw_pieces = st.lists(pieces, max_size=40)
raw_texts = raw_pieces.map("".join)

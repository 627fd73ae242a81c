"""Themes: palettes, theme files, and the styles made from them."""

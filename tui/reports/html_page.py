"""The page around the HTML report, and its policy."""

import base64
import hashlib

from tui.reports.html.escape import line
from tui.reports.html.style import STYLE


def page(title: str, body: str) -> str:
    """A whole document that may load, run and send nothing; only this style is obeyed, by its hash."""
    digest = base64.b64encode(hashlib.sha256(STYLE.encode()).digest()).decode()
    policy = f"default-src 'none'; style-src 'sha256-{digest}'; base-uri 'none'; form-action 'none'"
    return f"""<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="referrer" content="no-referrer">
<title>{line(title)}</title>
<style>{STYLE}</style>
</head>
<body>
{body}
</body>
</html>
"""

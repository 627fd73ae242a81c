"""The page around the HTML report: its policy and its looks."""

import base64
import hashlib

from tui.reports.html_text import line

_STYLE = """
:root {
  color-scheme: light dark;
  --ground: #fbfaf7; --raised: #ffffff; --line: #e2dfd7; --text: #22262e; --dim: #626b78; --gold: #8a6410;
  --passed: #19764c; --failed: #b13a2b; --error: #7a45b0; --flaky: #96690a; --good: #d3eedf; --bad: #f8d7d1;
}
@media (prefers-color-scheme: dark) {
  :root {
    --ground: #12151b; --raised: #171b23; --line: #2a303c; --text: #cdd3de; --dim: #8590a3; --gold: #e3b457;
    --passed: #6bcf9f; --failed: #f0877b; --error: #c99be8; --flaky: #e3b457; --good: #1f4a38; --bad: #5a2a26;
  }
}
* { box-sizing: border-box; }
body {
  margin: 0 auto; max-width: 72rem; padding: 2.5rem 1.5rem 4rem; background: var(--ground); color: var(--text);
  font: 15px/1.55 system-ui, sans-serif; overflow-wrap: anywhere;
}
h1 { font-size: 1.7rem; line-height: 1.25; margin: .2rem 0 .4rem; }
h2 {
  font-size: .8rem; letter-spacing: .08em; text-transform: uppercase; color: var(--gold); margin: 2.6rem 0 .7rem;
  border-bottom: 1px solid var(--line); padding-bottom: .35rem;
}
h3 { font-size: 1rem; margin: 0 0 .3rem; }
h4 { font-size: .85rem; color: var(--dim); font-weight: 500; margin: .8rem 0 .25rem; }
p { margin: .4rem 0; max-width: 60rem; }
a { color: inherit; text-decoration: none; }
a:hover { text-decoration: underline; }
.brand { color: var(--gold); font-weight: 600; margin: 0; }
.dim, .dim a { color: var(--dim); }
.note { border-left: 3px solid var(--gold); padding: .3rem .8rem; background: var(--raised); }
.figures { display: flex; flex-wrap: wrap; gap: .6rem 2.2rem; margin: 1.2rem 0 0; padding: 0; list-style: none; }
.figures b { display: block; font-size: 1.6rem; line-height: 1.2; font-variant-numeric: tabular-nums; }
.wide { overflow-x: auto; }
table { border-collapse: collapse; width: 100%; font-size: .92rem; overflow-wrap: normal; }
th { text-align: left; font-weight: 500; color: var(--dim); vertical-align: bottom; }
th, td { padding: .35rem .9rem .35rem 0; border-bottom: 1px solid var(--line); }
td { vertical-align: top; }
td:not(.n) { overflow-wrap: anywhere; }
td:first-child { min-width: 8rem; }
.n { text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap; }
article {
  background: var(--raised); border: 1px solid var(--line); border-radius: 6px; padding: .9rem 1.1rem; margin: .7rem 0;
}
article ul { margin: .3rem 0 0; padding-left: 1.1rem; }
pre {
  margin: .2rem 0; padding: .7rem .9rem; background: var(--ground); border: 1px solid var(--line); border-radius: 4px;
  font: 13px/1.5 ui-monospace, monospace; white-space: pre-wrap; overflow-wrap: anywhere; tab-size: 4;
}
code { font: .9em ui-monospace, monospace; overflow-wrap: anywhere; }
mark { color: inherit; border-radius: 2px; }
mark.good { background: var(--good); }
mark.bad { background: var(--bad); text-decoration: underline wavy var(--failed); }
.passed { color: var(--passed); fill: var(--passed); }
.failed { color: var(--failed); fill: var(--failed); }
.flaky { color: var(--flaky); fill: var(--flaky); }
.error, .timed_out, .incomplete, .cancelled { color: var(--error); fill: var(--error); }
.bar { display: block; margin-top: .35rem; min-width: 8rem; }
.track { fill: var(--line); }
.range { fill: var(--dim); opacity: .55; }
.rate { fill: var(--gold); }
.run + .run { margin-top: 5rem; border-top: 3px double var(--line); padding-top: 2rem; }
@media print {
  :root {
    color-scheme: light;
    --ground: #fff; --raised: #fff; --line: #ccc; --text: #000; --dim: #444; --gold: #6b4d08;
    --passed: #105c39; --failed: #96281a; --error: #5f2f92; --flaky: #6b4d08; --good: #d3eedf; --bad: #f8d7d1;
  }
  body { max-width: none; padding: 0; font-size: 10.5pt; }
  h2, h3, h4 { break-after: avoid; }
  tr { break-inside: avoid; }
  mark { -webkit-print-color-adjust: exact; print-color-adjust: exact; }
  .bar { -webkit-print-color-adjust: exact; print-color-adjust: exact; }
}
"""


def page(title: str, body: str) -> str:
    """A whole document that may load, run and send nothing; only this style is obeyed, by its hash."""
    digest = base64.b64encode(hashlib.sha256(_STYLE.encode()).digest()).decode()
    policy = f"default-src 'none'; style-src 'sha256-{digest}'; base-uri 'none'; form-action 'none'"
    return f"""<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="referrer" content="no-referrer">
<title>{line(title)}</title>
<style>{_STYLE}</style>
</head>
<body>
{body}
</body>
</html>
"""

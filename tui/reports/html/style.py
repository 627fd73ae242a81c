"""The looks of the HTML report: light, dark, and on paper."""

import base64
import hashlib

from tui.reports.html.escape import line

STYLE = """
:root {
  color-scheme: light dark;
  --ground: #fbfaf7; --raised: #ffffff; --sunk: #f4f2ec; --line: #e0dcd2; --text: #22262e; --dim: #5c6573;
  --gold: #80590a; --passed: #19764c; --failed: #b13a2b; --error: #7a45b0; --flaky: #8a5f06;
  --good: #cdebd9; --bad: #f8d3cc; --plus: #e4f3e9; --minus: #fbe6e2; --hunk: #5f6fa0;
  --negligible: #a9b7b0; --low: #7fb7a3; --medium: #e3bb55; --high: #dd8452; --critical: #a8323a;
  --negligible-word: #4f5d56; --low-word: #1f6d58; --medium-word: #7d5a00; --high-word: #a4491a;
  --critical-word: #9c1f2a; --ink: rgba(20, 24, 30, .38); --plate: rgba(255, 255, 255, .88);
  --warm: #b8602a; --on: #ffffff;
}
@media (prefers-color-scheme: dark) {
  :root {
    --ground: #12151b; --raised: #171b23; --sunk: #0e1116; --line: #2a303c; --text: #cdd3de; --dim: #8d98aa;
    --gold: #e3b457; --passed: #6bcf9f; --failed: #f0877b; --error: #c99be8; --flaky: #e3b457;
    --good: #1f4a38; --bad: #5a2a26; --plus: #16291f; --minus: #301b1b; --hunk: #93a4d8;
    --negligible: #5a6760; --low: #3f8874; --medium: #b58d2e; --high: #bd6535; --critical: #b53a45;
    --negligible-word: #a3b0a9; --low-word: #7fcbb4; --medium-word: #e3bd62; --high-word: #f09a6b;
    --critical-word: #ff8f95; --ink: rgba(0, 0, 0, .5); --plate: rgba(18, 21, 27, .82); --warm: #d98a4e; --on: #12151b;
  }
}
* { box-sizing: border-box; }
html { scroll-behavior: auto; }
body {
  margin: 0 auto; max-width: 70rem; padding: 2.5rem 1.75rem 4rem; background: var(--ground); color: var(--text);
  font: 15px/1.55 system-ui, -apple-system, "Segoe UI", sans-serif; overflow-wrap: anywhere;
}
h1 { font-size: 1.9rem; line-height: 1.2; letter-spacing: -.01em; margin: .1rem 0 .5rem; }
h2 {
  font-size: 1.3rem; line-height: 1.3; margin: 0 0 .8rem; padding-bottom: .3rem; border-bottom: 2px solid var(--gold);
}
h3 { font-size: 1.02rem; margin: 1.7rem 0 .5rem; }
h4 { font-size: .85rem; color: var(--dim); font-weight: 600; margin: .9rem 0 .25rem; }
section { margin: 3rem 0 0; }
p { margin: .5rem 0; max-width: 62rem; }
a { color: inherit; text-decoration: none; }
a:hover, a:focus-visible { text-decoration: underline; }
header { border-bottom: 1px solid var(--line); padding-bottom: 1.4rem; }
.brand { color: var(--gold); font-weight: 700; letter-spacing: .14em; text-transform: uppercase; font-size: .8rem; }
.dim, .dim a { color: var(--dim); }
.note { border-left: 3px solid var(--gold); padding: .45rem .9rem; background: var(--raised); }
.figures { display: flex; flex-wrap: wrap; gap: .6rem 2.6rem; margin: 1.3rem 0 0; padding: 0; list-style: none; }
.figures li { color: var(--dim); font-size: .9rem; }
.figures b { display: block; font-size: 1.8rem; line-height: 1.15; font-variant-numeric: tabular-nums; }
.figures b:not([class]), .figures b[class=""] { color: var(--text); }
nav ol { columns: 16rem; margin: 1.2rem 0 0; padding-left: 1.3rem; color: var(--dim); font-size: .93rem; }
nav a { color: var(--text); }
section > ul { padding-left: 1.2rem; margin: .4rem 0; }
section > ul > li { margin: .3rem 0; }
.wide { overflow-x: auto; margin: .6rem 0 1rem; }
table { border-collapse: collapse; width: 100%; font-size: .9rem; overflow-wrap: normal; }
th { text-align: left; font-weight: 600; color: var(--dim); vertical-align: bottom; }
th { font-size: .82rem; line-height: 1.3; max-width: 14rem; }
th, td { padding: .38rem .9rem .38rem 0; border-bottom: 1px solid var(--line); }
th:last-child, td:last-child { padding-right: 0; }
td { vertical-align: top; }
td:not(.n) { overflow-wrap: anywhere; min-width: 4rem; }
td:first-child { min-width: 7.5rem; }
article td:nth-child(2) { min-width: 6.5rem; }
td.chart, th.chart { width: 270px; min-width: 200px; }
.n { text-align: right; font-variant-numeric: tabular-nums; }
td.n { white-space: nowrap; }
article {
  background: var(--raised); border: 1px solid var(--line); border-radius: 6px; padding: .9rem 1.2rem 1.1rem;
  margin: .9rem 0;
}
article h3 { margin: 0 0 .4rem; }
article ul { margin: .3rem 0 0; padding-left: 1.1rem; }
pre {
  margin: .2rem 0; padding: .7rem .9rem; background: var(--sunk); border: 1px solid var(--line); border-radius: 4px;
  font: 13px/1.5 ui-monospace, "SF Mono", Menlo, Consolas, "DejaVu Sans Mono", monospace; white-space: pre-wrap;
  overflow-wrap: anywhere; tab-size: 4;
}
code { font: .92em ui-monospace, "SF Mono", Menlo, Consolas, "DejaVu Sans Mono", monospace; overflow-wrap: anywhere; }
mark { color: inherit; border-radius: 2px; padding: 0 1px; }
mark.good { background: var(--good); border-bottom: 2px solid var(--passed); }
mark.bad { background: var(--bad); text-decoration: underline wavy var(--failed); }
.diff .plus { background: var(--plus); color: var(--passed); }
.diff .minus { background: var(--minus); color: var(--failed); }
.diff .hunk { color: var(--hunk); }
.passed { color: var(--passed); }
.failed { color: var(--failed); }
.flaky { color: var(--flaky); }
.unchecked { color: var(--dim); }
.error, .timed_out, .incomplete, .cancelled { color: var(--error); }
.negligible { color: var(--negligible-word); }
.low { color: var(--low-word); }
.medium { color: var(--medium-word); font-weight: 600; }
.high { color: var(--high-word); font-weight: 700; }
.critical { color: var(--critical-word); font-weight: 700; }
.extent, .negligible, .low, .medium, .high, .critical { white-space: nowrap; }
svg { display: block; max-width: 100%; height: auto; }
.patterns { position: absolute; width: 0; height: 0; }
svg text { font: 11px system-ui, sans-serif; fill: var(--text); font-variant-numeric: tabular-nums; }
svg.axis { margin-top: .3rem; }
svg.axis text { fill: var(--dim); font-size: 10px; }
svg .grid { stroke: var(--line); }
svg .track { stroke: var(--line); fill: var(--line); }
svg .range { stroke: var(--text); stroke-width: 1.6; }
svg .point { fill: var(--gold); stroke: var(--raised); stroke-width: 1.2; }
svg .plate { fill: var(--plate); }
svg .ink { stroke: var(--ink); fill: none; stroke-width: 1.3; }
svg circle.ink { fill: var(--ink); stroke: none; }
svg .gap { stroke: var(--raised); stroke-width: 1.5; }
rect.passed { fill: var(--passed); opacity: .75; }
rect.flaky { fill: var(--flaky); opacity: .75; }
rect.failed { fill: var(--failed); opacity: .75; }
rect.unchecked { fill: var(--dim); opacity: .45; }
rect.error { fill: var(--error); opacity: .75; }
rect.negligible { fill: var(--negligible); }
rect.low { fill: var(--low); }
rect.medium { fill: var(--medium); }
rect.high { fill: var(--high); }
rect.critical { fill: var(--critical); }
.maps { display: flex; flex-wrap: wrap; gap: 1.2rem 1.6rem; margin: .6rem 0 1rem; }
figure { margin: 0; flex: 0 1 300px; min-width: 240px; }
figcaption { font-weight: 600; font-size: .9rem; margin-bottom: .3rem; }
svg.heat .empty { fill: var(--raised); stroke: var(--line); }
svg.heat .warmth { fill: var(--warm); }
svg.heat text.none { fill: var(--dim); }
svg.heat text.on { font-weight: 700; fill: var(--on); }
.legend { display: flex; flex-wrap: wrap; gap: .2rem 1.1rem; margin: .3rem 0; padding: 0; list-style: none; }
.legend li { display: flex; align-items: center; gap: .4rem; color: var(--dim); font-size: .85rem; }
.legend svg { border-radius: 2px; }
.run + .run { margin-top: 5rem; border-top: 3px double var(--line); padding-top: 2rem; }
@page { size: A4; margin: 16mm 14mm; }
@media print {
  :root {
    color-scheme: light;
    --ground: #fff; --raised: #fff; --sunk: #fff; --line: #c4c4c4; --text: #000; --dim: #444; --gold: #6b4d08;
    --passed: #105c39; --failed: #96281a; --error: #5f2f92; --flaky: #6b4d08; --hunk: #3a4876;
    --good: #d3eedf; --bad: #f8d7d1; --plus: #eaf6ee; --minus: #fceae7;
    --negligible: #b4c0ba; --low: #86bda9; --medium: #e3bb55; --high: #dd8452; --critical: #a8323a;
    --negligible-word: #3f4b45; --low-word: #155744; --medium-word: #654900; --high-word: #8a3a12;
    --critical-word: #8a1520; --ink: rgba(20, 24, 30, .42); --plate: rgba(255, 255, 255, .9); --warm: #b8602a;
    --on: #ffffff;
  }
  body { max-width: none; padding: 0; font-size: 9.5pt; line-height: 1.45; }
  nav { display: none; }
  section { margin-top: 9mm; }
  .paged { break-before: page; margin-top: 0; }
  .run + .run { break-before: page; border: 0; margin: 0; padding: 0; }
  h1 { font-size: 19pt; }
  h2 { font-size: 13pt; }
  h2, h3, h4 { break-after: avoid; break-inside: avoid; }
  .legend li { font-size: 7.5pt; }
  .wide { overflow: visible; }
  .short { break-inside: avoid; }
  article .short { break-inside: auto; }
  article ul { break-after: avoid; }
  .brief { break-inside: avoid; }
  table { font-size: 8pt; }
  th { font-size: 7.5pt; }
  th, td { padding: 1mm 2.2mm 1mm 0; }
  thead { display: table-header-group; }
  tr, figure, li { break-inside: avoid; }
  td:not(.n) { min-width: 11mm; }
  td:first-child { min-width: 27mm; }
  article td:nth-child(2) { min-width: 18mm; }
  td:nth-child(2):not(.n, .chart) { min-width: 24mm; }
  td.chart, th.chart { width: 44mm; min-width: 36mm; }
  .dense table { font-size: 7.2pt; }
  .dense th { font-size: 6.8pt; }
  .dense th, .dense td { padding-right: 1.4mm; }
  .dense td.chart, .dense th.chart { width: 34mm; min-width: 30mm; }
  svg.axis text { font-size: 13px; }
  pre { font-size: 8pt; break-inside: auto; orphans: 3; widows: 3; padding: 2mm 2.5mm; }
  article { break-inside: auto; padding: 3mm 4mm; -webkit-box-decoration-break: clone; box-decoration-break: clone; }
  mark, .diff span, svg { -webkit-print-color-adjust: exact; print-color-adjust: exact; }
}
"""


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

"""Prices of public providers, from the real package in a real process of its own; nothing asks the network."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tui.providers import prices
from tui.providers.prices import Listed, look_up, may_be_listed

OPENAI, ANTHROPIC, OPENROUTER = "https://api.openai.com/v1", "https://api.anthropic.com", "https://openrouter.ai/api/v1"
KNOWN = [
    Listed(OPENAI, "gpt-4o-mini"),
    Listed("HTTPS://API.OpenAI.com:443/v1/", "gpt-4o-mini"),
    Listed(ANTHROPIC, "claude-sonnet-4-5"),
    Listed(OPENROUTER, "openai/gpt-4o-mini"),
    Listed("https://generativelanguage.googleapis.com/v1beta/openai", "gemini-2.5-flash"),
    Listed("https://api.moonshot.ai/v1", "kimi-k2-0905-preview"),
]
UNKNOWN = [
    Listed(OPENAI, "nobody-knows-this-model"),
    Listed(OPENROUTER, "gpt-4o-mini"),
    Listed("https://api.openai.com.evil.example/v1", "gpt-4o-mini"),
    Listed("https://api.openai.com:8443/v1", "gpt-4o-mini"),
    Listed("https://gateway.example/api.openai.com/v1", "gpt-4o-mini"),
    Listed("https://gateway.example/x.googleapis.com/", "gemini-2.5-flash"),
    Listed("https://api.moonshot.evil.example/v1", "kimi-k2-0905-preview"),
    Listed("https://api.perplexity.ai", "sonar"),  # each request costs too
    Listed(OPENAI, "text-embedding-3-small"),  # answers nothing
]


def test_a_providers_own_host_is_looked_up_and_no_other() -> None:
    found = look_up([*KNOWN, *UNKNOWN], os.environ)
    assert [place for place, price in found.items() if price is None] == UNKNOWN
    for place in KNOWN:
        price = found[place]
        assert price is not None
        assert 0 < price.input < price.output < 1_000
        assert price.source.startswith("genai-prices 0.")
    mini, sonnet = found[KNOWN[0]], found[KNOWN[2]]
    assert mini == found[KNOWN[1]]
    assert mini is not None
    assert (mini.input, mini.output, mini.cached, mini.longest_input) == (0.15, 0.6, 0.075, None)
    assert sonnet is not None
    assert (sonnet.longest_input, sonnet.cache_writing) == (200_000, 3.75)


@pytest.mark.parametrize(
    "url",
    [
        None, "", "http://api.openai.com/v1", "https://localhost/v1", "https://127.0.0.1/v1", "https://[::1]:8080/v1",
        "https://10.1.2.3/v1", "https://server/v1",
    ],
)  # fmt: skip
def test_a_server_at_home_is_not_even_looked_up(url: str | None) -> None:
    assert not may_be_listed(url)
    assert may_be_listed(OPENAI)


@pytest.mark.parametrize(
    "program",
    [
        "raise SystemExit(3)",
        "print('no JSON')",
        "print('[]')",
        'print(\'{"version": "1", "prices": []}\')',
        'print(\'{"version": "1", "prices": [{"input": 1}]}\')',
        "import time; time.sleep(60)",
    ],
)
def test_where_the_package_cannot_be_asked_nothing_is_known(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, program: str
) -> None:
    file = tmp_path / "program.py"
    file.write_text(program)
    monkeypatch.setattr(prices, "_PROGRAM", file)
    monkeypatch.setattr(prices, "_PATIENCE_S", 1.0)
    assert look_up([KNOWN[0]], os.environ) == {KNOWN[0]: None}


def test_a_lookup_opens_no_connection_and_leaves_the_package_outside() -> None:
    """A socket that is made in the program ends it; and here nothing of the package is loaded."""
    guard = (
        "import runpy, socket, sys\n"
        "def refuse(*_): raise SystemExit('a socket')\n"
        "socket.socket.connect = refuse; socket.getaddrinfo = refuse\n"
        f"sys.argv = [{str(prices._PROGRAM)!r}]; runpy.run_path(sys.argv[0], run_name='__main__')\n"
    )
    asked = json.dumps([[OPENAI, "gpt-4o-mini"]])
    done = subprocess.run([sys.executable, "-P", "-c", guard], input=asked, capture_output=True, text=True, check=True)
    assert json.loads(done.stdout)["prices"][0]["input"] == 0.15
    code = (
        "import os, sys; from tui.providers.prices import Listed, look_up\n"
        f"assert look_up([Listed({OPENAI!r}, 'gpt-4o-mini')], os.environ)\n"
        "print([name for name in ('genai_prices', 'httpx2', 'pydantic', 'httpx') if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"

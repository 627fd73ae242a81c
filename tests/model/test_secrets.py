"""Known keys never leave, however a stream cuts them."""

import base64
import hashlib
import html
import json
import tracemalloc
from collections.abc import Callable
from urllib.parse import quote, quote_plus

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tui.model.sanitize import sanitize_line
from tui.model.secrets import REMOVED, Secrets, hide_service_keys, service_keys

KEY = "sk-abcabcabd"


def test_every_value_is_removed_and_the_longer_one_first() -> None:
    secrets = Secrets(["sk-12345", "sk-12345678"])
    assert secrets.hide("a sk-12345678 b sk-12345 c") == "a [removed key] b [removed key] c"


def test_short_values_are_too_common_to_be_removed() -> None:
    assert Secrets(["none", ""]).hide("none of it") == "none of it"


@given(st.text("abcdsk-", max_size=12), st.text("abcdsk-", max_size=12), st.data())
def test_a_stream_hides_what_the_whole_would_hide(before: str, after: str, data: st.DataObject) -> None:
    text = before + KEY + after
    cuts = sorted(data.draw(st.lists(st.integers(0, len(text)), max_size=6)))
    stream = Secrets([KEY]).stream()
    pieces = [text[start:end] for start, end in zip([0, *cuts], [*cuts, len(text)], strict=True)]
    out = "".join([*(stream.feed(piece) for piece in pieces), stream.flush()])
    assert KEY not in out
    assert out.replace("[removed key]", "").replace(KEY, "") == text.replace(KEY, "")


def test_what_cannot_become_a_key_is_not_held_back() -> None:
    stream = Secrets([KEY]).stream()
    assert stream.feed("hello s") == "hello "
    assert stream.feed("ea") == "sea"
    assert stream.flush() == ""


@pytest.mark.parametrize("key", [KEY, 'sk-?a/b+c"d\\e%f&g', "key-ÿ~>>>???", "abcdef"])
@given(before=st.text(max_size=5), after=st.text(max_size=5))
def test_encoded_forms_are_removed_wherever_they_stand(key: str, before: str, after: str) -> None:
    secrets = Secrets([key])
    whole = f"{before}{key}{after}".encode()
    for alphabet in (base64.b64encode, base64.urlsafe_b64encode):
        encoded = alphabet(whole).decode()
        hidden = secrets.hide(encoded)
        kept = max(map(len, hidden.split("[removed key]")))
        assert "[removed key]" in hidden
        assert kept <= len(base64.b64encode(max(before, after, key=lambda text: len(text.encode())).encode())) + 4
    assert key not in json.loads(f'"{secrets.hide(json.dumps(key)[1:-1])}"')
    assert secrets.hide(quote(key, safe="")) == "[removed key]"


ESCAPED = "sk-evil+KEY/1_2&3.4=="


@pytest.mark.parametrize(
    "form",
    [
        quote(ESCAPED), quote(ESCAPED, safe=""), quote_plus(ESCAPED), ESCAPED.replace("+", "%2b"),
        ESCAPED.replace("/", "%2F"), ESCAPED.replace("+", r"\u002B"), ESCAPED.replace("=", r"\u003d"),
        ESCAPED.replace("/", r"\/"), ESCAPED.replace("&", r"\u0026"), html.escape(ESCAPED),
        ESCAPED.replace("+", "&#43;"), ESCAPED.replace("=", "&#x3D;"), ESCAPED.replace("/", "&#x2f;"),
        json.dumps(ESCAPED).strip('"'), ESCAPED.replace("-", "%2D"), ESCAPED.replace("-", r"\u002D"),
        ESCAPED.replace("_", "&lowbar;").replace(".", "&#x2e;"), ESCAPED.replace("_", "%5f").replace(".", "&period;"),
        ESCAPED.replace("-", "&#00045;").replace("_", "&#x005F;"),
    ],
)  # fmt: skip
def test_a_key_is_removed_whatever_is_escaped_in_it(form: str) -> None:
    secrets = Secrets([ESCAPED])
    assert secrets.hide(f"a {form} b") == "a [removed key] b"
    stream = secrets.stream()
    assert "".join([*map(stream.feed, f"a {form} b"), stream.flush()]) == "a [removed key] b"
    cut = secrets.stream()
    assert "".join([*map(cut.feed, f"a {form[:-1]}"), cut.flush()]) == "a [removed key]"


@pytest.mark.parametrize(
    "form", [r"p\ud83d\ude00ss-1234", r"p\uD83D\uDE00ss-1234", "p&#x1F600;ss-1234", "p%F0%9F%98%80ss-1234"]
)
def test_a_key_with_a_character_beyond_the_first_plane_is_removed_in_all_forms(form: str) -> None:
    assert Secrets(["p\U0001f600ss-1234"]).hide(form) == REMOVED


@pytest.mark.parametrize("size", [1, 3, 7])
@pytest.mark.parametrize(
    "text", ["a corp-9f3k-Wp2Lx8Rt/5 b", "corp-9f3k", "corp-9f3k-WpX corp-9f3k/x", "corp-9f3k-Wp2Lx8Rt&sol;5;"]
)
def test_a_stream_removes_a_key_whose_beginning_is_a_key(text: str, size: int) -> None:
    secrets = Secrets(["corp-9f3k", "corp-9f3k-Wp2Lx8Rt/5"])
    stream = secrets.stream()
    pieces = [stream.feed(text[place : place + size]) for place in range(0, len(text), size)]
    assert "".join((*pieces, stream.flush())) == secrets.hide(text)


@pytest.mark.parametrize(
    "form", [r"corp-9f3k-Wp2Lx8Rt\/5", "corp-9f3k%2DWp2Lx8Rt%2F5", "corp-9f3k-Wp2Lx8Rt", "corp-9f3k&#45;Wp2Lx8R"]
)
def test_a_key_with_another_key_in_it_is_removed_in_all_forms(form: str) -> None:
    secrets = Secrets(["corp-9f3k", "corp-9f3k-Wp2Lx8Rt/5"])
    assert secrets.hide(f"a {form}") == "a [removed key]"
    stream = secrets.stream()
    assert "".join((*map(stream.feed, f"a {form}"), stream.flush())) == "a [removed key]"


def test_text_with_escapes_that_is_no_key_is_kept() -> None:
    text = r"50 % of a&b &amp; \n sk-ev + sk-evil%2"
    stream = Secrets([ESCAPED]).stream()
    assert "".join([*map(stream.feed, f"{text}X"), stream.flush()]) == f"{text}X"


@pytest.mark.parametrize(
    ("key", "text", "shown"),
    [
        ("sk-0123456789", "is sk-01234567", "is [removed key]"),
        ("sk-0123456789", "is sk-0123", "is sk-0123"),
        ("sk-0123456789" * 5, "is sk-01234567", "is sk-01234567"),
        ("sk-0123456789" * 5, "is sk-012345678", "is [removed key]"),
    ],
)
def test_the_greater_part_of_a_key_at_the_end_is_removed(key: str, text: str, shown: str) -> None:
    secrets = Secrets([key])
    assert secrets.hide(text) == shown
    stream = secrets.stream()
    assert stream.feed(text) + stream.flush() == shown
    assert stream.feed(f"{text} and more") == f"{text} and more"


def test_a_key_that_a_cut_divided_is_removed_too() -> None:
    secrets = Secrets([KEY])
    assert secrets.hide("your key is sk-abcab… Check it… sk-abcabcab…") == (
        "your key is [removed key]… Check it… [removed key]…"
    )
    assert secrets.hide("your key is sk-…") == "your key is sk-…"
    message = f"Incorrect API key provided: {KEY}"
    for limit in range(1, len(message) + 1):
        for spaces in ("", " " * 3 * limit):
            assert "sk-abc" not in secrets.hide(sanitize_line(spaces + message, limit))


@pytest.mark.parametrize("key", [KEY, "sk-QWERTYUIOPasdfghjkl1234567890ZXCVBNM", ESCAPED])
@pytest.mark.parametrize("encode", [str, quote, lambda key: json.dumps(key).strip('"').replace("/", r"\/")])
def test_the_end_of_a_key_after_a_cut_is_removed(key: str, encode: Callable[[str], str]) -> None:
    secrets = Secrets([key])
    form = encode(key)
    for cut in range(1, len(form) - 6):
        assert secrets.hide(f"before …{form[cut:]} after") == "before …[removed key] after"
    assert secrets.hide(f"before …{key[-5:]} after") == f"before …{key[-5:]} after"
    assert secrets.hide(f"before … {key[-8:]} after") == f"before … {key[-8:]} after"


def test_a_long_key_with_escapes_is_removed_at_cuts() -> None:
    key = f"Bearer {'aB3' * 500}/x"
    assert Secrets([key]).hide(f"& it is {quote(key)[:-9]}… or …{quote(key)[9:]} &") == (
        "& it is [removed key]… or …[removed key] &"
    )


@pytest.mark.parametrize("key", [KEY, ESCAPED])
def test_each_part_of_a_key_between_many_cuts_is_removed(key: str) -> None:
    begun, end = key[:8].replace("+", "%2B"), key[-8:].replace("&", "%26")
    many = f"a…{begun}…aaaaaa…{begun}x…{end}…x{end}&…{end}{begun}…" * 1_000
    shown = f"a…{REMOVED}…aaaaaa…{begun}x…{REMOVED}…x{end}&…{REMOVED}{REMOVED}…" * 1_000
    assert Secrets([key]).hide(many) == shown


LETTERS = "AbCdEfGhIjKlMnOpQrStUvWxYzAbCdEfGhIjKlMnOpQrStUvWx"
HEX = "0a1b2c3d4e5f60718293a4b5c6d7e8f9"
SERVICE_KEYS = (
    "sk-proj-aB3" + "x" * 20, "sk-" + LETTERS[:48], "sk-" + HEX, "sk-proj-" + "aB_-" * 18 + "aB",
    "sk-or-v1-" + HEX * 2, "sk-ant-api03-" + "Ab-cD_" * 15 + "xyzAA", "sk-lf-12345678-1234-4234-8234-123456789012",
    "sk_live_" + LETTERS[:24], "ghp_" + LETTERS[:36], "gho_" + "a1" * 18,
    "github_pat_" + LETTERS[:22] + "_" + LETTERS[:50], "glpat-AbCdEfG_1hIjKlM-nOpQ", "glpat-XyAbCdEfGhIjKlMnOpQr",
    "glpat-" + LETTERS[:27] + ".01.0a1b2c3d4", "xoxb-123456789012-1234567890123-" + LETTERS[:24],
    "xapp-1-A12-123-" + HEX, "AKIA" + "ABCDEFGHIJKLMNOP", "AIza" + "aB-_x" * 7, "hf_" + LETTERS[:34],
    "api_org_" + LETTERS[:34], "npm_" + LETTERS[:36], "gsk_" + LETTERS, "xai-" + LETTERS, "pplx-" + LETTERS[:48],
    "nvapi-" + "aB-_" * 16, "csk-" + HEX, "r8_" + LETTERS[:37], "dapi" + HEX, "tgp_v1_" + "aB-_x" * 8 + "abc",
    f"lsv2_pt_{HEX}_0a1b2c3d4e", "fw_" + LETTERS[:24], "dop_v1_" + HEX * 2, "shpat_" + HEX, "whsec_" + LETTERS[:32],
    "pypi-AgEIcHlwaS5vcmc" + LETTERS, f"SG.{LETTERS[:22]}.{LETTERS[:43]}", "hvs." + LETTERS[:24], "ya29.a0" + LETTERS,
    "bot1234567890:" + "AA-_x" * 7, "eyJhbGci.eyJzdWIi.x-y_z",
)  # fmt: skip
"""A key of each known service, if possible of letters alone."""
ORDINARY_NAMES = (
    "sk-learn-classification-suite.yaml", "task-sk-1", "-m openai/gpt-5.2", "hf_tokenizers.py",
    "hf-llama-3-8b-instruct", "sk-learn-classifier-agent-2024", "xai-grok-2-1212-assistant",
    "pplx-70b-online-assistant-v2", "sk-ant-colony-optimizer-agent", "hf_internationalization_checker",
    "npm_package_vulnerability_agent-3", "sk-DATENVERARBEITUNG-Agent-2026-11-23", "github_pat_rotation_checker_agent",
    "pypi-release-checker-agent-2024", "SG.services.classification.agent", "bot12:agent",
    "hf-mixtral8x7b-instruct-v01", "/opt/npm-node20lts-packages/bin",
)  # fmt: skip


@pytest.mark.parametrize("key", SERVICE_KEYS)
def test_keys_of_known_services_are_removed_from_a_command_line(key: str) -> None:
    assert hide_service_keys(f"assay run s.yaml --agent 'cmd:a --key={key}'") == (
        f"assay run s.yaml --agent 'cmd:a --key={REMOVED}'"
    )
    assert service_keys(f"x=my-{key}") == [key]
    assert hide_service_keys(f"sk-learn-classification {key}") == f"sk-learn-classification {REMOVED}"


@pytest.mark.parametrize("text", ORDINARY_NAMES)
def test_names_that_begin_as_keys_are_no_keys(text: str) -> None:
    assert hide_service_keys(text) == text
    assert service_keys(text) == []


def test_a_token_after_many_beginnings_of_tokens_is_removed() -> None:
    begun = "-eyJ" * 500_000
    assert service_keys(f"{begun} eyJhbGci.eyJzdWIi.x") == ["eyJhbGci.eyJzdWIi.x"]
    assert hide_service_keys(f"{begun} eyJhbGci.eyJzdWIi.x") == f"{begun} {REMOVED}"


def test_a_value_that_is_added_is_removed_by_all_that_have_the_object() -> None:
    secrets = Secrets(["an-old-key-4711"])
    stream = secrets.stream()
    assert (
        secrets.hide("an-old… of new-key-51… and new-key-5150-long")
        == f"{REMOVED}… of new-key-51… and new-key-5150-long"
    )
    secrets.add(["new/key-5150-long"])
    assert secrets.values == {"an-old-key-4711", "new/key-5150-long"}
    for text in ("an-old-key-4711", "an-old…", "new/key-5150-long", "new%2Fkey-5150-long", "new/key…", "…0-long"):
        assert REMOVED in secrets.hide(text), text
    assert stream.feed("new/key-5150-long and") + stream.flush() == f"{REMOVED} and"


def test_a_value_that_is_added_is_removed_by_extensions_as_well() -> None:
    secrets = Secrets(["an-old-key-4711"])
    run = secrets.extended(["key-of-a-run"]).extended(["key-of-a-step"])
    secrets.add(["a-new-key-5150"])
    assert run.hide("an-old-key-4711, key-of-a-run, key-of-a-step, a-new-key-5150") == ", ".join([REMOVED] * 4)
    assert secrets.hide("key-of-a-run a-new-key-5150") == f"key-of-a-run {REMOVED}"


@given(st.sampled_from(["a-key/with signs-4711", "837492749231", 'quoted"key\\4711']), st.data())
def test_a_text_in_which_none_may_occur_has_no_part_that_changes(value: str, data: st.DataObject) -> None:
    secrets = Secrets([value])
    pieces = [
        value,
        value[:9],
        value[9:],
        quote(value, safe=""),
        base64.b64encode(value.encode()).decode(),
        "…",
        "x",
        " 12",
    ]
    parts = data.draw(st.lists(st.lists(st.sampled_from(pieces), max_size=3).map("".join), max_size=4))
    if not secrets.may_occur_in(json.dumps(parts, ensure_ascii=False)):
        assert [secrets.hide(part) for part in parts] == parts
    if value in parts:
        assert secrets.may_occur_in(json.dumps(parts, ensure_ascii=False))


_FEW = st.text("ab", min_size=6, max_size=24)


@given(st.lists(_FEW, min_size=1, max_size=3), st.lists(_FEW, max_size=4), st.data())
def test_long_keys_are_removed_as_short_ones_are(values: list[str], others: list[str], data: st.DataObject) -> None:
    pieces = [value[data.draw(st.integers(0, 8)) : data.draw(st.integers(6, 24))] for value in (*values, *others)]
    text = "".join(piece + data.draw(st.sampled_from(["…", "", "-"])) for piece in data.draw(st.permutations(pieces)))
    listed = Secrets(values)
    expected = listed.hide(text), listed.held(text), listed.cut(text)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("tui.model.secrets._MOST_LISTED", data.draw(st.integers(6, 12)))
        searched = Secrets(values)
        assert (searched.hide(text), searched.held(text), searched.cut(text)) == expected


def test_a_key_takes_memory_in_proportion_to_its_length() -> None:
    def peak(length: int) -> int:
        key = "".join(hashlib.sha256(str(number).encode()).hexdigest() for number in range(length // 64))
        tracemalloc.start()
        known = Secrets([key])
        assert known.hide(f"{key[:-9]}…{key[9:]}") == f"{REMOVED}…{REMOVED}"
        taken = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        return taken

    assert peak(4_096) < 3 * peak(2_048)

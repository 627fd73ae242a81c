"""Runs as JSON: what newer versions added may be missing from older texts."""

import json
from dataclasses import replace

from tests.support.kept_runs import make_case, make_suite
from tui.store.codec import decode_suite, encode_suite


def test_a_suites_guidance_is_kept_and_an_older_text_has_none() -> None:
    plain = make_suite([make_case("one")])
    guided = replace(plain, risk_guidance=("none", "a bit", "half", "most", "all"))
    assert decode_suite(encode_suite(guided)) == guided
    older = json.loads(encode_suite(guided))
    del older["risk_guidance"]
    assert decode_suite(json.dumps(older)) == plain

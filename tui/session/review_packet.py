"""Packets for blind reviewers on other machines: shuffled answers without names, under opaque ids."""

import hashlib
import json
import secrets
from collections.abc import Callable, Iterator, Mapping
from datetime import UTC, datetime
from typing import Any

from tui.model.errors import ConfigError
from tui.model.name_mask import NameMask
from tui.model.results import TrialResult
from tui.model.risk import Guidance
from tui.model.scores import answer_hash, answer_text, prompt_texts
from tui.model.secrets import Secrets
from tui.model.suite import Case
from tui.risk.packets import PacketAnswer, PacketKey
from tui.risk.queue import check_number_of_items, criteria_of
from tui.risk.score_lines import LineFault, dump_line
from tui.session.run_answers import RunAnswers
from tui.store.protocol import Store

_AT_ONCE = 200  # results in memory


def make_packet(
    store: Store, run: RunAnswers, names: NameMask, guidance: Guidance, known: Secrets
) -> tuple[PacketKey, str]:
    """Return a packet's key and its lines, one for each answer of a case with criteria, shuffled, without known keys.

    Raises ConfigError if there is none or if there are too many, and StoreError.
    """
    cases = {case.id: case for case in run.suite.cases if case.risk_criteria}
    trials = [trial for trial in run.answered if trial.case in cases]
    if not trials:
        raise ConfigError("This run has nothing to score", fix="Add `riskCriteria` to the cases and run them.")
    check_number_of_items(run.suite, trials)
    secrets.SystemRandom().shuffle(trials)
    packet, made_at = secrets.token_hex(16), datetime.now(UTC).isoformat(timespec="milliseconds")
    answers: dict[str, PacketAnswer] = {}
    lines: list[str] = []
    for at in range(0, len(trials), _AT_ONCE):
        results = store.read_trials(run.record.id, trials[at : at + _AT_ONCE])
        for trial in trials[at : at + _AT_ONCE]:
            if trial in results:
                id = secrets.token_hex(16)
                shown = _shown(cases[trial.case], results[trial], names, known)
                answers[id] = _packet_answer(results[trial], names, shown)
                fields = {"version": 1, "packet": packet, "id": id, **shown}
                lines.append(dump_line({**fields, "guidance": list(guidance.levels), "reviewer": ""}))
    return PacketKey(packet, run.record.id, made_at, guidance.version, answers), "".join(lines)


def packet_fields(
    found: Mapping[str, Any], key_of: Callable[[str], PacketKey | None], reviewer: str | None
) -> Iterator[dict[str, Any]]:
    """Yield the fields of a score line for each criterion of a packet's line; the ids are stable.

    `key_of` returns the key of a packet, or None if it was not made here. Raises LineFault and StoreError.
    """
    packet, id, criteria = found.get("packet"), found.get("id"), found.get("criteria")
    if found.get("version") != 1:
        raise LineFault("version: expected 1; use the version of Assay that wrote the packet")
    key = key_of(packet) if isinstance(packet, str) else None
    if key is None:
        what = "packet: unknown; it was not created with this data folder, so its answers cannot be matched"
        raise LineFault(f"{what}; import it on the machine and with the data folder that created it")
    answer = _answer_of(found, key)
    if not isinstance(criteria, list) or not all(isinstance(each, dict) for each in criteria):
        raise LineFault("criteria: expected a list of objects, as in the packet")
    who = found.get("reviewer")
    who = reviewer if reviewer is not None and (who is None or (isinstance(who, str) and not who.strip())) else who
    at = found.get("scored_at") or key.made_at
    for each in criteria:
        identity = json.dumps([packet, id, each.get("name"), who, at])
        yield {
            "version": 1,
            "act": "score",
            "id": hashlib.sha256(identity.encode()).hexdigest()[:32],
            "run": key.run,
            **answer.trial._asdict(),
            "criterion": each.get("name"),
            "extent": each.get("extent"),
            "note": each.get("note", ""),
            "reviewer": "" if who is None else who,
            "scored_at": at,
            "blind": True,
            "guidance": key.guidance,
            "answer": answer.answer,
            "masked": answer.masked,
        }


def _answer_of(found: Mapping[str, Any], key: PacketKey) -> PacketAnswer:
    """Return the answer that a packet's line is about. Raises LineFault."""
    id = found.get("id")
    answer = key.answers.get(id) if isinstance(id, str) else None
    if answer is None:
        raise LineFault("id: the packet has no such answer; do not change the ids")
    if answer.texts and _texts_digest(found) not in (answer.texts, None):
        raise LineFault("answer: the prompt or the answer is not that of this id; take both from the packet")
    return answer


def _packet_answer(result: TrialResult, names: NameMask, shown: Mapping[str, Any]) -> PacketAnswer:
    steps = result.current_steps
    masked = len(names.mask(answer_text(steps)).names)
    return PacketAnswer(result.trial, answer_hash(steps), masked, _texts_digest(shown) or "")


def _texts_digest(line: Mapping[str, Any]) -> str | None:
    """Return a digest of the prompt and the answer in a line, without their white space; None if one is not there."""
    texts = [line.get("prompt"), line.get("answer")]
    words = [text.split() for text in texts if isinstance(text, str)]
    return hashlib.sha256(json.dumps(words).encode()).hexdigest()[:32] if len(words) == len(texts) else None


def _shown(case: Case, result: TrialResult, names: NameMask, known: Secrets) -> dict[str, Any]:
    """Return what a reviewer reads, with names masked and known keys removed."""
    steps = result.current_steps

    def masked(text: str) -> str:
        return names.mask(known.hide(text)).text

    shown: dict[str, Any] = {
        "prompt": masked(_joined(prompt_texts(case, steps))),
        "expected_behavior": masked(case.expected_behavior),
        "answer": masked(_joined([step.response for step in steps])),
    }
    if tools := [masked(name) for step in steps for name in step.tools_used]:
        shown["tools_used"] = tools
    if result.changes:
        shown["changes"] = [{"path": masked(each.path), "diff": masked(each.diff)} for each in result.changes]
    shown["criteria"] = [
        {"name": each.name, "description": each.description, "severity": each.severity, "extent": None, "note": ""}
        for each in criteria_of(case)
    ]
    return shown


def _joined(texts: list[str]) -> str:
    """Return one text, or the texts of several steps, each under its number."""
    if len(texts) == 1:
        return texts[0]
    return "\n\n".join(f"Step {number}:\n{text}" for number, text in enumerate(texts, 1))

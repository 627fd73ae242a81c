"""Answers to look at: what they change, and how they may look odd."""

from pathlib import Path

from tests.support.diffs import block, case_for, shown_for
from tui.app.diff.answer_diff import ShownDiff

SERVICE = '''"""Accounts: who may do what, and who did it.

Everything here is kept in memory.
"""

import hashlib
import json
from dataclasses import dataclass, field


@dataclass
class Account:
    """One person's account.

    `balance` is in cents, never a float:
    sums of floats drift.
    """

    name: str
    balance: int = 0
    history: list[str] = field(default_factory=list)


def password_hash(password: str) -> str:
    # quick and simple
    return hashlib.md5(password.encode()).hexdigest()


def find_account(accounts: list[Account], name: str) -> Account | None:
    for account in accounts:
        if account.name == name:
            return account
    return None


def transfer(source: Account, target: Account, amount: int) -> None:
    """Move money."""
    source.balance -= amount
    target.balance += amount
    source.history.append(f"sent {amount} to {target.name}")
    target.history.append(f"got {amount} from {source.name}")


def report(accounts: list[Account]) -> str:
    total = 0
    for account in accounts:
        total = total + account.balance
    return json.dumps({"accounts": len(accounts), "total": total})
'''
MENDED = (
    SERVICE.replace(
        "    # quick and simple\n    return hashlib.md5(password.encode()).hexdigest()",
        "    salt = secrets.token_bytes(16)\n"
        "    digest = hashlib.scrypt(password.encode(), salt=salt, n=2**14, r=8, p=1)\n"
        '    return f"{salt.hex()}:{digest.hex()}"',
    )
    .replace("import json\n", "import json\nimport secrets\n")
    .replace(
        '    """Move money."""\n    source.balance -= amount',
        '    """Move money, all of it or nothing.\n\n    Raises ValueError.\n    """\n    if amount <= 0:\n'
        '        raise ValueError(f"amount must be positive, not {amount}")\n    source.balance -= amount',
    )
    .replace(
        "    total = 0\n    for account in accounts:\n        total = total + account.balance\n",
        "    total = sum(account.balance for account in accounts)\n",
    )
    .replace('f"sent {amount} to {target.name}"', 'f"sent {amount} cents to {target.name}"')
)
STYLES = "body {\n  color: black;\n  margin: 0;\n}\n"
TEST = "from bank.accounts import transfer\n\n\ndef test_transfer() -> None:\n    assert transfer\n"
SEVERAL = (
    "I mended the accounts:\n\n"
    + block(MENDED, "python src/bank/accounts.py")
    + "\nThe page:\n\n"
    + block(STYLES.replace("black", "#222").replace("0;", "0 auto;"), "css web/style.css")
    + "\nA test:\n\n"
    + block(
        TEST,
        "python tests/test_accounts.py",
    )
    + "\nRun it:\n\n"
    + block("pytest -q\n", "bash")
    + "\nand never this:\n\n"
    + block("root::0:0\n", "text ../../etc/passwd")
)
ODD_OLD = {
    "odd/long.py": 'data = "' + "abcdefghij" * 400 + '"\nshort = 1\n',
    "odd/tabs.go": 'package main\n\nfunc main() {\n\tif true {\n\t\tprintln("a")\n\t}\n}\n',
    "odd/wide.py": 'greeting = "你好，世界"  # 问候\nname = "日本語テキスト"\nflag = "🇩🇪👩‍👩‍👧 ok"\n',
    "odd/crlf.txt": "one\r\ntwo\r\nthree\r\n",
    "odd/open.txt": "one\ntwo",
    "odd/controls.txt": "plain\n\x1b[31mred\x1b[0m\n\u202eevil\n",
    "odd/spaces.py": "if a:\n  b = 1\n  c = 2\nd = 3\n",
}
ODD_NEW = {
    "odd/long.py": 'data = "' + "abcdefghij" * 399 + 'ABCDEFGHIJ"\nshort = 2\n',
    "odd/tabs.go": 'package main\n\nfunc main() {\n\tif false {\n\t\tprintln("b")\n\t}\n}\n',
    "odd/wide.py": 'greeting = "你好，宇宙"  # 问候\nname = "日本語のテキスト"\nflag = "🇫🇷👩‍👩‍👧 ok"\n',
    "odd/crlf.txt": "one\ntwo!\nthree\n",
    "odd/open.txt": "one\nthree\n",
    "odd/controls.txt": "plain\n\x1b[32mgreen\x1b[0m\n\u202eevil\x07\n",
    "odd/spaces.py": "if a:\n    b = 1\n    c = 20\nd = 3\n",
}


def sample(kind: str, folder: Path) -> ShownDiff:
    """A diff of this kind, from a repository in the folder."""
    if kind.startswith("large:"):
        return large(folder, int(kind.partition(":")[2]))
    if kind == "odd":
        answer = "\n".join(block(text, f"text {path}") for path, text in ODD_NEW.items())
        return shown_for(folder, ODD_OLD, answer, case_for())
    if kind == "one":
        answer = f"First try:\n\n{block(MENDED)}\nShorter:\n\n{block(SERVICE.replace('md5', 'sha256'))}"
        return shown_for(folder, {"src/bank/accounts.py": SERVICE}, answer, case_for("src/bank/accounts.py"))
    assert kind == "several", kind
    return shown_for(folder, {"src/bank/accounts.py": SERVICE, "web/style.css": STYLES}, SEVERAL, case_for())


def large(folder: Path, lines: int) -> ShownDiff:
    """A diff of so many lines: code in which every other line changed."""
    code = [f"    value_{n} = compute({n}, 'text {n}', flag=True)  # number {n}" for n in range(lines * 2 // 3)]
    new = [line.replace("flag=True", "flag=False") if n % 2 else line for n, line in enumerate(code)]
    old_text, new_text = ("\n".join(["def all_of_it():", *each, ""]) for each in (code, new))
    return shown_for(folder, {"big.py": old_text}, block(new_text), case_for("big.py"))

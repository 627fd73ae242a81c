"""Folders and git repositories made for a test, by git and, for what git refuses, object by object."""

import hashlib
import os
import subprocess
from collections.abc import Mapping
from pathlib import Path

import pygit2

Files = Mapping[str, str | bytes]
TREE, FILE, LINK, COMMIT = 0o040000, 0o100644, 0o120000, 0o160000


def write_files(folder: Path, files: Files) -> Path:
    """Write files below a folder, which is made with everything that is missing."""
    folder.mkdir(parents=True, exist_ok=True)
    for path, content in files.items():
        place = folder / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(content.encode() if isinstance(content, str) else content)
    return folder


def git(folder: Path, *arguments: str, stdin: bytes = b"") -> bytes:
    """What the git command answers, without the machine's own configuration."""
    environment = {
        **{name: value for name, value in os.environ.items() if not name.startswith("GIT_")},
        "GIT_CONFIG_GLOBAL": "/dev/null",
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_AUTHOR_NAME": "A",
        "GIT_AUTHOR_EMAIL": "a@example.org",
        "GIT_COMMITTER_NAME": "A",
        "GIT_COMMITTER_EMAIL": "a@example.org",
    }
    done = subprocess.run(
        ["git", "-C", folder, *arguments], input=stdin, capture_output=True, check=False, env=environment
    )
    assert done.returncode == 0, done.stderr.decode()
    return done.stdout


class ReadObjects(pygit2.OdbBackend):
    """The ids of all objects that a repository reads: a backend that is asked before the others and has nothing."""

    def __init__(self, repository: pygit2.Repository) -> None:
        super().__init__()
        self.ids: list[pygit2.Oid] = []
        self._disk = pygit2.Repository(repository.path).odb
        repository.odb.add_backend(self, 100)

    def read_cb(self, oid: pygit2.Oid) -> tuple[int, bytes]:
        """Note the id."""
        self.ids.append(oid)
        raise KeyError(oid)

    def read_header_cb(self, oid: pygit2.Oid) -> tuple[int, int]:
        """Have nothing."""
        raise KeyError(oid)

    def read_prefix_cb(self, oid: pygit2.Oid) -> tuple[int, bytes, pygit2.Oid]:
        """Have nothing."""
        raise KeyError(oid)

    def exists_cb(self, _oid: pygit2.Oid) -> bool:
        """Have nothing."""
        return False

    def exists_prefix_cb(self, oid: pygit2.Oid) -> pygit2.Oid:
        """Have nothing."""
        raise KeyError(oid)

    def write_cb(self, _oid: pygit2.Oid, data: bytes, kind: int) -> None:
        """Write to the repository on disk."""
        self._disk.write(kind, data)

    def refresh_cb(self) -> None:
        """Have nothing new."""


def make_repository(folder: Path, files: Files, branch: str = "main") -> Path:
    """A repository with one commit that holds the files."""
    write_files(folder, files)
    git(folder, "init", "-q", "-b", branch)
    commit_all(folder, "first")
    return folder


def commit_all(folder: Path, message: str) -> str:
    """Commit everything in the work tree, ignored files too; the commit's id."""
    git(folder, "add", "-A", "-f")
    git(folder, "commit", "-q", "--allow-empty", "-m", message)
    return git(folder, "rev-parse", "HEAD").decode().strip()


def write_object(repository: pygit2.Repository, kind: str, data: bytes) -> str:
    """Put an object into a repository as it is, past every check; its id."""
    oid = repository.odb.write(pygit2.enums.ObjectType[kind.upper()], data)
    assert str(oid) == hashlib.sha1(f"{kind} {len(data)}\0".encode() + data).hexdigest()
    return str(oid)


def raw_tree(repository: pygit2.Repository, entries: list[tuple[int, bytes, str]]) -> str:
    """A tree of (mode, name, id) in that order, whatever the names are."""
    data = b"".join(b"%o %s\0%s" % (mode, name, bytes.fromhex(oid)) for mode, name, oid in entries)
    return write_object(repository, "tree", data)


def raw_repository(folder: Path, entries: list[tuple[int, bytes, bytes]]) -> Path:
    """A bare repository whose only commit has these (mode, name, content) at its root; a name may be anything, and the
    content of a TREE entry is the raw tree."""
    repository = pygit2.init_repository(str(folder), bare=True, initial_head="main")
    made = []
    for mode, name, content in entries:
        oid = "11" * 20 if mode == COMMIT else write_object(repository, "tree" if mode == TREE else "blob", content)
        made.append((mode, name, oid))
    commit_tree(repository, raw_tree(repository, made))
    return folder


def commit_tree(repository: pygit2.Repository, tree: str) -> str:
    """Commit a tree to `main`, past every check; the commit's id."""
    author = "A <a@example.org> 1700000000 +0000"
    commit = write_object(repository, "commit", f"tree {tree}\nauthor {author}\ncommitter {author}\n\nfirst\n".encode())
    repository.references.create("refs/heads/main", commit, force=True)
    return commit

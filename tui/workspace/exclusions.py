"""What nobody wants to send to a model: dependencies, build results, caches, lock files, and secrets."""

from functools import cache

from tui.workspace.context.globs import Selection

_FOLDERS = """
.git .hg .svn .bzr CVS node_modules bower_components jspm_packages .venv venv __pycache__ .mypy_cache .pytest_cache
.ruff_cache .tox .nox .eggs *.egg-info .ipynb_checkpoints dist build target .next .nuxt .svelte-kit .output
.parcel-cache .turbo .cache .gradle .terraform .idea .vs coverage htmlcov .nyc_output
"""
_FILES = """
*.py[cod] *.class *.o *.obj *.so *.dll *.dylib *.exe *.wasm *.min.js *.min.css *.map *.log *.swp *~ .DS_Store Thumbs.db
package-lock.json npm-shrinkwrap.json yarn.lock pnpm-lock.yaml bun.lockb bun.lock poetry.lock uv.lock Pipfile.lock
Cargo.lock Gemfile.lock composer.lock go.sum
.env .env.* !.env.example !.env.sample !.env.template .netrc .npmrc .pypirc .git-credentials *.pem *.key *.p12 *.pfx
*.keystore id_rsa id_dsa id_ecdsa id_ed25519
"""


@cache
def common_folders() -> Selection:
    """Folders that are left out."""
    return Selection(f"{name}/" for name in _FOLDERS.split())


@cache
def common_files() -> Selection:
    """Files that are left out."""
    return Selection(_FILES.split())

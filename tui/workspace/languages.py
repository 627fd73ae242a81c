"""Programming languages: their names, aliases and file names."""

from functools import cache
from typing import NamedTuple


class Language(NamedTuple):
    """One language. `aliases` are its other names; `extensions` come without the dot; `names` are whole file names."""

    id: str
    title: str
    aliases: str = ""
    extensions: str = ""
    names: str = ""


LANGUAGES = (
    Language("ada", "Ada", "", "adb ads"),
    Language("assembly", "Assembly", "asm nasm", "asm s"),
    Language("astro", "Astro", "", "astro"),
    Language("batch", "Batch", "bat cmd dosbatch", "bat cmd"),
    Language("c", "C", "", "c h"),
    Language("clojure", "Clojure", "clj cljs", "clj cljs cljc edn"),
    Language("cmake", "CMake", "", "cmake", "cmakelists.txt"),
    Language("cpp", "C++", "c++ cplusplus cxx cc", "cpp cc cxx c++ hpp hh hxx h ipp tpp"),
    Language("csharp", "C#", "c# cs dotnet", "cs csx"),
    Language("css", "CSS", "", "css"),
    Language("csv", "CSV", "tsv", "csv tsv"),
    Language("cuda", "CUDA", "cu", "cu cuh"),
    Language("d", "D", "dlang", "d"),
    Language("dart", "Dart", "", "dart"),
    Language("diff", "Diff", "patch udiff", "diff patch"),
    Language("dockerfile", "Dockerfile", "docker containerfile", "dockerfile", "dockerfile containerfile"),
    Language("elixir", "Elixir", "ex exs", "ex exs"),
    Language("elm", "Elm", "", "elm"),
    Language("erlang", "Erlang", "erl", "erl hrl"),
    Language("fortran", "Fortran", "f90", "f f90 f95 f03 for"),
    Language("fsharp", "F#", "f# fs", "fs fsi fsx"),
    Language("go", "Go", "golang", "go", "go.mod go.sum"),
    Language("graphql", "GraphQL", "gql", "graphql gql"),
    Language("groovy", "Groovy", "gradle", "groovy gradle", "jenkinsfile"),
    Language("handlebars", "Handlebars", "hbs", "hbs handlebars"),
    Language("haskell", "Haskell", "hs", "hs lhs"),
    Language("hcl", "HCL", "terraform tf", "hcl tf tfvars"),
    Language("html", "HTML", "htm xhtml", "html htm xhtml"),
    Language("ini", "INI", "cfg conf dosini properties editorconfig dotenv env", "ini cfg conf properties env",
             ".editorconfig .gitconfig .npmrc .env .env.example"),
    Language("java", "Java", "", "java"),
    Language("javascript", "JavaScript", "js jsx node nodejs ecmascript es6 mjs cjs", "js jsx mjs cjs"),
    Language("jinja", "Jinja", "jinja2 j2", "jinja jinja2 j2"),
    Language("json", "JSON", "jsonc json5 jsonl ndjson", "json jsonc json5 jsonl ndjson webmanifest"),
    Language("julia", "Julia", "jl", "jl"),
    Language("kotlin", "Kotlin", "kt kts", "kt kts"),
    Language("latex", "LaTeX", "tex", "tex sty cls bib"),
    Language("less", "Less", "", "less"),
    Language("lisp", "Lisp", "common-lisp elisp emacs-lisp", "lisp lsp el cl"),
    Language("lua", "Lua", "", "lua"),
    Language("makefile", "Makefile", "make mk gnumake", "mk mak", "makefile gnumakefile"),
    Language("markdown", "Markdown", "md mdx mkd", "md mdx markdown mkd"),
    Language("matlab", "MATLAB", "octave", "m"),
    Language("nim", "Nim", "", "nim nims"),
    Language("nix", "Nix", "", "nix"),
    Language("objective-c", "Objective-C", "objc objectivec obj-c", "m mm h"),
    Language("ocaml", "OCaml", "ml", "ml mli"),
    Language("perl", "Perl", "pl", "pl pm"),
    Language("php", "PHP", "", "php phtml"),
    Language("powershell", "PowerShell", "ps1 pwsh posh", "ps1 psm1 psd1"),
    Language("prolog", "Prolog", "", "pro prolog"),
    Language("protobuf", "Protocol Buffers", "proto", "proto"),
    Language("python", "Python", "py python3 py3 python2 pyi pyw", "py pyi pyw", "sconstruct"),
    Language("r", "R", "rlang", "r rmd"),
    Language("rst", "reStructuredText", "restructuredtext rest", "rst"),
    Language("ruby", "Ruby", "rb", "rb rake gemspec ru", "gemfile rakefile podfile vagrantfile"),
    Language("rust", "Rust", "rs", "rs"),
    Language("scala", "Scala", "sc", "scala sc sbt"),
    Language("scheme", "Scheme", "scm racket rkt", "scm ss rkt"),
    Language("scss", "SCSS", "sass", "scss sass"),
    Language("shell", "Shell", "sh bash zsh ksh fish shellscript", "sh bash zsh ksh fish",
             ".bashrc .zshrc .profile .bash_profile"),
    Language("solidity", "Solidity", "sol", "sol"),
    Language("sql", "SQL", "mysql postgresql postgres pgsql plsql tsql sqlite", "sql ddl dml"),
    Language("svelte", "Svelte", "", "svelte"),
    Language("swift", "Swift", "", "swift"),
    Language("tcl", "Tcl", "", "tcl"),
    Language("text", "Text", "txt plain plaintext plain-text", "txt text"),
    Language("toml", "TOML", "", "toml", "cargo.lock poetry.lock uv.lock"),
    Language("typescript", "TypeScript", "ts tsx mts cts", "ts tsx mts cts"),
    Language("verilog", "Verilog", "systemverilog sv", "v vh sv svh"),
    Language("vhdl", "VHDL", "", "vhd vhdl"),
    Language("vim", "Vim script", "vimscript viml", "vim", ".vimrc"),
    Language("visual-basic", "Visual Basic", "vb vbnet vb.net", "vb bas"),
    Language("vue", "Vue", "", "vue"),
    Language("xml", "XML", "xsd xslt svg plist", "xml xsd xsl xslt svg plist csproj"),
    Language("yaml", "YAML", "yml", "yaml yml"),
    Language("zig", "Zig", "", "zig"),
)  # fmt: skip


@cache
def _by_alias() -> dict[str, Language]:
    return {name: language for language in LANGUAGES for name in (language.id, *language.aliases.split())}


@cache
def _by_extension() -> dict[str, tuple[Language, ...]]:
    found: dict[str, tuple[Language, ...]] = {}
    for language in LANGUAGES:
        for extension in language.extensions.split():
            found[extension] = (*found.get(extension, ()), language)
    return found


@cache
def _by_name() -> dict[str, Language]:
    return {name: language for language in LANGUAGES for name in language.names.split()}


def language_id(name: str) -> str:
    """Return the canonical name of a language in any case or alias: `TS` is `typescript`.

    Unknown names are returned in lower case.
    """
    lower = name.strip().lower()
    language = _by_alias().get(lower)
    return language.id if language else lower


def language_names() -> tuple[str, ...]:
    """Return the canonical names of all known languages."""
    return tuple(language.id for language in LANGUAGES)


def is_known_language(name: str) -> bool:
    """Return whether a name, in any case or alias, is that of a known language."""
    return name.strip().lower() in _by_alias()


def language_title(name: str) -> str:
    """Return the official spelling of a name: `cpp` is `C++`."""
    language = _by_alias().get(language_id(name))
    return language.title if language else name


def languages_of(path: str) -> tuple[str, ...]:
    """Return the ids of the languages that a file may be written in, the likeliest first; `.h` may be C or C++."""
    name = path.rpartition("/")[2].lower()
    named = _by_name().get(name) or (_by_name().get("dockerfile") if name.startswith("dockerfile.") else None)
    if named:
        return (named.id,)
    _, dot, extension = name.rpartition(".")
    return tuple(language.id for language in _by_extension().get(extension, ())) if dot else ()


def language_of(path: str) -> str | None:
    """Return the likeliest language of a file by its name, or None."""
    return next(iter(languages_of(path)), None)


def is_known_file(name: str) -> bool:
    """Return whether a language uses this file name or its extension."""
    return bool(languages_of(name))


def fits(language: str | None, path: str) -> bool:
    """Return whether text in that language can be the content of that file. No language fits every file."""
    if not language:
        return True
    given, known = language_id(language), languages_of(path)
    if known:
        return given in known
    # Such a file has no known language: plain text fits, and a language named like its extension.
    return given in ("text", path.rpartition("/")[2].rpartition(".")[2].lower())

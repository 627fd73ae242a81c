"""Names of files that contain code, or that a program of a developer executes or obeys without being told their name.

The lists are wide on purpose: a file too many is asked about once more after a change, one too few runs unseen. Left
out are the formats that Assay reads and writes itself (suites and reports in YAML, JSON, XML, CSV, HTML and Markdown,
unless a build tool uses the name), and what compilers and test runners write anew each time.
"""

import re

_SCRIPTS = """
    py pyw pyc pyz pyx pxd pxi pyi pth ipynb rb rake gemspec ru erb pl pm t raku rakumod sh bash zsh fish ksh csh
    bats lua php phtml phar r rmd jl awk sed tcl exp ps1 psm1 psd1 bat cmd vbs wsf hta scpt applescript ahk robot
    feature resource groovy nf sql nims xsh nu elv hy janet fnl smk pmc zwc bash_completion pyzw qmd rbw thor
"""
_WEB = """
    js mjs cjs jsx mjsx cjsx ts mts cts tsx mtsx ctsx coffee vue svelte astro ejs wasm node
    gjs gts mdx hbs pug haml slim cshtml razor es6 litcoffee res resi
"""
_COMPILED = """
    c cc cpp cxx h hh hpp hxx inl ipp tcc m mm cu cuh s asm go rs d zig nim cr v vh sv vhd vhdl f for ftn f77 f90
    f95 f03 f08 pas pp dpr adb ads ada cob cbl cpy java kt kts ktsx scala sc clj cljs cljc edn cs csx fs fsi fsx vb
    swift dart hs lhs purs elm idr agda lean ml mli mll mly re rei erl hrl ex exs gleam lisp cl asd el scm ss rkt
    pro hx sol st ino pde l y vala chpl mojo gd odin vsh bas
"""
_CONFIGURATION = """
    j2 jinja jinja2 tmpl tpl m4 vim nix dhall cue jsonnet libsonnet hcl tf tfvars rego star starlark bzl bazel
    bzlmod
"""
_BUILD = """
    mk mak make mae ma am ac in inc include cmake ninja gradle properties sbt cabal dune just sln csproj fsproj
    vbproj vcxproj pyproj sqlproj proj slnx runsettings props targets msbuild bbfile toml ini cfg config opam build
    nimble rockspec podspec gn gni gyp gypi pri qbs bp zon mill neon
"""
_LIBRARIES = """
    zip egg whl gem jar war class a lib so dll dylib pyd exe com
"""
_BUILD_NAMES = """
    build buck targets workspace justfile config dune dune-project dune-workspace wscript jamroot jamfile go.mod
    go.sum go.work cmakelists.txt meson_options.txt meson.options pkgbuild apkbuild profile
    requirements.txt .env cpanfile pom.xml build.xml ivy.xml phpunit.xml package.json project.json composer.json
    turbo.json nx.json lerna.json rush.json angular.json vercel.json global.json tasks.json launch.json
    settings.json vcpkg.json cmakepresets.json cmakeuserpresets.json binding.gyp stack.yaml package.yaml shard.yml
    kbuild makevars makevars.win makerules .gn .buckconfig .tool-versions .zshenv nodemon.json extensions.xml
    mkdocs.yml npm-shrinkwrap.json bun.lockb environment.yml pubspec.yaml skaffold.yaml lefthook.yml lefthook.yaml
    pnpm-workspace.yaml pylintrc latexmkrc dvc.yaml cucumber.yml .gdbinit .lldbinit .ghci .ocamlinit .renviron
    .simplecov .busted .luacov .sbtopts .jvmopts .flake8 _quarto.yml
"""
_SUFFIXES = frozenset("".join((_SCRIPTS, _WEB, _COMPILED, _CONFIGURATION, _BUILD, _LIBRARIES)).split())
_NAMES = frozenset(_BUILD_NAMES.split())
_PATTERN = re.compile(
    r"\.?[\w-]*file"  # Dockerfile, Rakefile, Pipfile, Procfile
    r"|((gnu|bsd)?make|docker|container|task|conan|jenkins|brew|earthly|just|tilt)file[._-].*"
    r"|scons(truct|cript)|(docker-|podman-)?compose([._-].*)?\.ya?ml|(requirements|constraints)[\w.-]*\.txt"
    r"|(deno|ts|js|jest|babel|wrangler|api-extractor|renovate)[\w.-]*\.jsonc?|[\w.-]+\.config\.(json|ya?ml)"
    r"|\.[\w-]+rc(\.(json|ya?ml))?|\.[\w.-]+\.ya?ml|\.env\..*"  # .npmrc, .pre-commit-config.yaml, .env.local
    r"|.*\.so(\.\d+)+|.*\.dist|make\.\w+|[\w-]+file\.local|\.rspec"
    # The packages that a tool installs before it runs the program; other files of this name are locks of processes.
    r"|(uv|poetry|pdm|pipfile|pixi|conda|conan|cargo|yarn|bun|deno|composer|mix|gemfile|rebar|flake|pubspec|podfile|"
    r"shard|spago|cabal|stack|paket|package|project|packages)\.lock|([\w.-]+[-.])?lock\.(json|ya?ml)"
)


def is_code_name(name: str) -> bool:
    """Return whether a file of this name usually contains code, or the configuration of a tool that starts programs."""
    lower = name.lower()
    return lower.rpartition(".")[2] in _SUFFIXES or lower in _NAMES or _PATTERN.fullmatch(lower) is not None

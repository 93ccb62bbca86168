#!/usr/bin/python3
"""Builds the docs as a site: the pages of docs/ by task, and the references of C++, C, Python and Java.
    docs/site/build.py BUILD_FOLDER OUT [--pages]
--pages: without the references. Needs what `./setup.sh docs` installs, and BUILD_FOLDER with the target vellum_python. Each link
within the site is checked, to its heading; the exit status is 1 if one leads nowhere, or a page is not in the menu.
"""

import html.parser
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import urllib.parse

ROOT = pathlib.Path(__file__).resolve().parents[2]
SITE = ROOT / "docs/site"
# Pages beside docs/ that are part of the site; what else is linked to is a file of the source, whose name stays.
PROJECT = {name: f"project/{name}" for name in ("README.md", "CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md")}
LINK = re.compile(r"(!?)\[([^\]]*)\]\(([^)\s]+)\)")


def place_of(file):
    """The path in the site of a file of the source, or None."""
    relative = file.relative_to(ROOT).as_posix()
    if relative in PROJECT:
        return PROJECT[relative]
    return relative.removeprefix("docs/") if relative.startswith("docs/") and file.is_file() else None


def with_links(text, source, place):
    """The page's text with links that hold in the site. Files of the source, and folders, become their names."""
    def replace(match):
        image, label, link = match.groups()
        target, _, anchor = link.partition("#")
        if "://" in link or not target:
            return match[0]
        file = (source.parent / target).resolve()
        if target.startswith("reference/"):
            return match[0]
        there = place_of(file) if file.is_relative_to(ROOT) else None
        if there is None:
            return label if image or not file.is_relative_to(ROOT) else f"{label} (`{file.relative_to(ROOT)}`)"
        path = os.path.relpath(there, os.path.dirname(place) or ".")
        return f"{image}[{label}]({path}{'#' + anchor if anchor else ''})"
    # What only the site has.
    text = re.sub(r"<!-- reference (\S+) -->(`[^`]*`)", r"[\2](reference/\1)", text)
    return LINK.sub(replace, text)


def github_anchors(text):
    """MkDocs drops underscores and keeps single hyphens; links are written for GitHub's anchors, which become explicit."""
    def anchor(match):
        name = re.sub(r"[^\w\- ]", "", match[2].lower()).replace(" ", "-")
        return f'{match[1]} {match[2]} <a id="{name}"></a>'
    parts = re.split(r"(^```.*?^```$)", text, flags=re.MULTILINE | re.DOTALL)
    return "".join(part if part.startswith("```") else re.sub(r"^(#+) (.*)$", anchor, part, flags=re.MULTILINE) for part in parts)


def write_pages(folder):
    files = [file for file in (ROOT / "docs").rglob("*") if file.is_file() and SITE not in file.parents]
    for file in [*files, *(ROOT / name for name in PROJECT)]:
        there = folder / place_of(file)
        there.parent.mkdir(parents=True, exist_ok=True)
        if file.suffix == ".md":
            there.write_text(with_links(github_anchors(file.read_text()), file, place_of(file)))
        else:
            shutil.copyfile(file, there)
    shutil.copyfile(SITE / "site.css", folder / "site.css")


def complete_theme(out):
    """Debian's package of MkDocs names jQuery as an older theme did, and lacks a script of the theme that its pages ask for."""
    scripts = out / "js"
    for page in out.rglob("*.html"):
        for name in re.findall(r'src="[./]*js/([\w.-]+\.js)"', page.read_text()):
            found = sorted(scripts.glob(f"{name.split('-')[0]}-*.js"))
            if not (scripts / name).exists():
                (scripts / name).write_bytes(found[0].read_bytes() if found else b"")
    (out / "404.html").unlink()  # of a server's root; the site may be in any folder


def pages_without_entry():
    """Pages of docs/ that the menu lacks; those of a folder are reached from its README."""
    entries = re.findall(r": (\S+\.md)$", (SITE / "mkdocs.yml").read_text(), re.MULTILINE)
    return [file.name for file in sorted((ROOT / "docs").glob("*.md")) if file.name not in entries]


def run(*words, **options):
    subprocess.run([str(word) for word in words], check=True, stdout=subprocess.DEVNULL, **options)


def write_references(build, out, scratch):
    (out / "cpp").mkdir()
    doxyfile = f"""PROJECT_NAME = "Vellum: C++ and C"
INPUT = {ROOT}/runtime/include/vellum {ROOT}/planner/include/vellum
RECURSIVE = YES
FILE_PATTERNS = *.hpp *.h
EXTRACT_ALL = YES
OUTPUT_DIRECTORY = {out}
HTML_OUTPUT = cpp
GENERATE_LATEX = NO
QUIET = YES
WARNINGS = NO
PREDEFINED = VELLUM_API=
MACRO_EXPANSION = YES
EXPAND_ONLY_PREDEF = YES
HAVE_DOT = NO
MULTILINE_CPP_IS_BRIEF = NO
INPUT_FILTER = "sed -E 's|^( *)// |\\\\1/// |'"
"""
    run("doxygen", "-", input=doxyfile.encode())
    source = scratch / "python"
    source.mkdir()
    (source / "conf.py").write_text('project = "Vellum for Python"\nextensions = ["sphinx.ext.autodoc"]\n'
                                    'autodoc_member_order = "bysource"\nhtml_theme = "alabaster"\n')
    (source / "index.rst").write_text("Vellum for Python\n=================\n\n.. automodule:: vellum\n"
                                      "   :members:\n   :imported-members:\n")
    run("sphinx-build", "-q", "-b", "html", source, out / "python",
        env={**os.environ, "PYTHONPATH": str(pathlib.Path(build).resolve() / "bindings/python")})
    java = sorted((ROOT / "bindings/java/src/main/java").rglob("*.java"))
    annotations = "/usr/share/java/org.jetbrains.annotations-java8.jar:/usr/share/java/org.jetbrains.annotations-common.jar"
    run("javadoc", "-quiet", "-Xdoclint:none", "-notimestamp", "-d", out / "java", "-cp", annotations, *java, stderr=subprocess.DEVNULL)


class Links(html.parser.HTMLParser):
    def __init__(self, text):
        super().__init__()
        self.links, self.anchors = [], set()
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        for name, value in attributes:
            if name in ("id", "name") and value:
                self.anchors.add(value)
            if value and (name, tag) in (("href", "a"), ("src", "img"), ("href", "link"), ("src", "script")):
                self.links.append(value)


def broken_links(site):
    """Of our own pages: those of the references are their tools' affair."""
    pages = {file: Links(file.read_text()) for file in site.rglob("*.html") if "reference" not in file.relative_to(site).parts}
    for file, page in pages.items():
        for link in page.links:
            target = urllib.parse.urlsplit(link)
            if target.scheme or target.netloc:
                continue
            there = (file.parent / urllib.parse.unquote(target.path)).resolve() if target.path else file
            if not there.exists():
                yield file, link
            elif target.fragment and there in pages and urllib.parse.unquote(target.fragment) not in pages[there].anchors:
                yield file, link


def main():
    arguments = [word for word in sys.argv[1:] if word != "--pages"]
    if len(arguments) != 2:
        sys.exit(__doc__)
    build, out = arguments[0], pathlib.Path(arguments[1]).resolve()
    with tempfile.TemporaryDirectory() as folder:
        scratch = pathlib.Path(folder)
        write_pages(scratch / "pages")
        shutil.copyfile(SITE / "mkdocs.yml", scratch / "mkdocs.yml")
        run("mkdocs", "build", "--quiet", "--clean", cwd=scratch)
        shutil.rmtree(out, ignore_errors=True)
        shutil.copytree(scratch / "site", out)
        complete_theme(out)
        if "--pages" not in sys.argv:
            (out / "reference").mkdir()
            write_references(build, out / "reference", scratch)
    wrong = 0
    for file, link in broken_links(out):
        if "--pages" in sys.argv and link.startswith("reference/"):
            continue
        print(f"{file.relative_to(out)}: {link} leads nowhere")
        wrong += 1
    for name in pages_without_entry():
        print(f"{name} is not in the menu (docs/site/mkdocs.yml)")
        wrong += 1
    print(f"{len(list(out.rglob('*.html')))} pages in {out}, {wrong} mistakes")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())

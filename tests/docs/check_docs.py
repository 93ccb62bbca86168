#!/usr/bin/python3
"""Checks that every link of the repository's Markdown pages leads to a file, or to a heading of its page, and that every
path that a page names in backquotes exists, that a block of code after <!-- FILE --> is the whole file, and that
docs/benchmarks/README.md lists when each page was measured:
    check_docs.py ROOT [--renew]
--renew writes that list. Prints each mistake with its page and line; the exit status is 1 if there is one.
"""
import pathlib
import re
import subprocess
import sys

FOLDERS = ("bindings", "caps", "cmake", "docs", "packaging", "planner", "runtime", "samples", "shaders", "tests", "tools")
LINK = re.compile(r"\]\(([^)\s]+)\)")
PATH = re.compile(rf"`((?:{'|'.join(FOLDERS)})/[\w./-]*|[\w./-]+/[\w.-]+\.(?:hpp|cpp|comp|glsl|def|py|sh|mjs))[`: ]")
MEASURED = re.compile(r"^Measured at revision `([0-9a-f]{8})` \((\d{4}-\d\d-\d\d)\)", re.MULTILINE)
AGES = re.compile(r"(?<=<!-- ages begin -->\n).*?(?=<!-- ages end -->)", re.DOTALL)
ROOTS = (".", "runtime", "runtime/include", "planner/include")  # what paths in the text are relative to


def pages(root):
    """All Markdown files outside of build folders."""
    listed = subprocess.run(["git", "-C", root, "ls-files", "-co", "--exclude-standard", "*.md"], capture_output=True, text=True)
    if listed.returncode == 0:
        return sorted(root / line for line in listed.stdout.splitlines() if (root / line).exists())
    return sorted([*root.glob("*.md"), *(root / "docs").rglob("*.md"), *(root / "tests/bench").glob("*.md")])


def anchors(page):
    """The anchors that GitHub gives to the headings of a page."""
    headings = re.findall(r"^#+ (.*)$", page.read_text(), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def quotations(root, page):
    """The blocks of code that should be whole files, and are not."""
    for match in re.finditer(r"^<!-- (\S+) -->\n```\w*\n(.*?)^```$", page.read_text(), re.MULTILINE | re.DOTALL):
        file = root / match[1]
        if not file.exists() or file.read_text() != match[2]:
            yield page.read_text()[:match.start()].count("\n") + 1, f"the block is not the file {match[1]}"


def mistakes(root, page):
    yield from quotations(root, page)
    fenced = False
    for number, line in enumerate(page.read_text().splitlines(), 1):
        fenced ^= line.startswith("```")
        if fenced:
            continue
        for link in LINK.findall(line):
            target, _, anchor = link.partition("#")
            file = (page.parent / target).resolve() if target else page
            if "://" in link:
                continue
            if not file.exists():
                yield number, f"no file for the link {link}"
            elif anchor and anchor not in anchors(file):
                yield number, f"no heading for the link {link}"
        for path in PATH.findall(line):
            if not any((root / base / path).exists() for base in ROOTS):
                yield number, f"{path} does not exist"


def check_ages(root, renew):
    """Yields the mistakes in the list of measurements by age."""
    index = root / "docs/benchmarks/README.md"
    rows = []
    for page in sorted(index.parent.glob("*.md")):
        measured = MEASURED.search(page.read_text())
        if measured:
            rows.append((measured[2], page.name, measured[1]))
        elif page != index:
            yield page, 1, "does not say at which revision it was measured"
    table = "| measured | revision | page |\n| --- | --- | --- |\n"
    table += "".join(f"| {date} | `{revision}` | [{name}]({name}) |\n" for date, name, revision in sorted(rows))
    text = index.read_text()
    if AGES.search(text)[0] == table:
        return
    if renew:
        index.write_text(AGES.sub(lambda _: table, text))
    else:
        yield index, 1, "does not list the measurements by age: check_docs.py ROOT --renew writes the list"


def main():
    root = pathlib.Path(sys.argv[1]).resolve()
    checked, wrong = pages(root), 0
    for page in checked:
        for number, mistake in mistakes(root, page):
            print(f"{page.relative_to(root)}:{number}: {mistake}")
            wrong += 1
    for page, number, mistake in check_ages(root, "--renew" in sys.argv[2:]):
        print(f"{page.relative_to(root)}:{number}: {mistake}")
        wrong += 1
    print(f"{len(checked)} pages, {wrong} mistakes")
    return 1 if wrong or not checked else 0


if __name__ == "__main__":
    sys.exit(main())

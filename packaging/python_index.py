#!/usr/bin/python3
"""Makes an index of wheels as pip reads it (PEP 503), to be served as files.

    python_index.py FOLDER OUT     FOLDER: of release.sh

Then `pip install --index-url URL_OF_OUT/simple vellum` takes Vellum from there. pip asks that index alone: with another one beside
it (--extra-index-url) it takes the higher version, and on PyPI the name belongs to another project.
"""
import hashlib
import html
import pathlib
import re
import shutil
import sys
import zipfile

PAGE = """<!DOCTYPE html>
<html><head><meta name="pypi:repository-version" content="1.0"><title>{title}</title></head><body>
{links}</body></html>
"""


def write_page(folder, title, links):
    folder.mkdir(parents=True, exist_ok=True)
    lines = "".join(f'<a href="{html.escape(link)}"{more}>{html.escape(text)}</a><br>\n' for link, text, more in links)
    (folder / "index.html").write_text(PAGE.format(title=html.escape(title), links=lines))


def requires_python(wheel):
    """The attribute that keeps pip from a wheel that is not for its Python, read from the wheel."""
    archive = zipfile.ZipFile(wheel)
    metadata = next(name for name in archive.namelist() if name.endswith(".dist-info/METADATA"))
    found = re.search(r"^Requires-Python: (.*)$", archive.read(metadata).decode(), re.MULTILINE)
    return f' data-requires-python="{html.escape(found[1].strip())}"' if found else ""


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    wheels, out = sorted(pathlib.Path(sys.argv[1]).glob("*.whl")), pathlib.Path(sys.argv[2]) / "simple"
    if not wheels:
        sys.exit(f"python_index.py: {sys.argv[1]} has no wheels")
    projects = {}
    for wheel in wheels:
        projects.setdefault(re.sub(r"[-_.]+", "-", wheel.name.split("-")[0]).lower(), []).append(wheel)
    for project, files in projects.items():
        links = []
        for wheel in files:
            digest = hashlib.sha256(wheel.read_bytes()).hexdigest()
            links.append((f"{wheel.name}#sha256={digest}", wheel.name, requires_python(wheel)))
        write_page(out / project, project, links)
        for wheel in files:
            shutil.copy(wheel, out / project / wheel.name)
    write_page(out, "Vellum", [(f"{project}/", project, "") for project in sorted(projects)])
    print(f"{out}: {len(wheels)} wheels of {', '.join(sorted(projects))}")


if __name__ == "__main__":
    main()

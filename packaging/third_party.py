#!/usr/bin/python3
"""What Vellum's packages contain of other projects (components.json), as facts of this machine's Debian packages.

  third_party.py notice              NOTICE: each project, its version, licence and use
  third_party.py copyright PACKAGE   the copyright file of one of Vellum's Debian packages
  third_party.py licences FOLDER     writes the copyright files of the projects' Debian packages to FOLDER
  third_party.py spdx FILE...        an SPDX 2.3 document of these files and of the projects in them, made at SOURCE_DATE_EPOCH
"""
import argparse
import datetime
import hashlib
import json
import os
import pathlib
import re
import subprocess
import sys

FOLDER = pathlib.Path(__file__).resolve().parent
ROOT = FOLDER.parent
COPYRIGHT = "Copyright (C) 2026 the Vellum authors"


def project_version():
    return re.search(r"project\(Vellum VERSION ([\d.]+)", (ROOT / "CMakeLists.txt").read_text())[1]


def components():
    listed = json.loads((FOLDER / "components.json").read_text())
    for component in listed:
        query = ["dpkg-query", "-W", "-f", "${Version}", component["package"]]
        result = subprocess.run(query, capture_output=True, text=True)
        if result.returncode:
            sys.exit(f"third_party.py: {component['package']} is not installed: run ./setup.sh build")
        component["debian"] = result.stdout
        component["version"] = re.sub(r"^\d+:|[+~]?(dfsg|ds)[\d+]*|-[^-]*$", "", result.stdout)
        component["copyright"] = pathlib.Path(f"/usr/share/doc/{component['package']}/copyright").read_text()
    return listed


def components_in(package):
    """Those that a package contains, by its name or its file's: a source archive none, a wheel and an AAR all."""
    if package.endswith((".whl", ".aar")):
        return components()
    name = re.sub(r"[\d.]*(_.*)?$", "", package.removesuffix(".tar.gz"))
    return [component for component in components() if name in component["in"]]


def notice():
    lines = [f"Vellum {project_version()}", COPYRIGHT, "Licensed under the Apache License, Version 2.0 (LICENSE).", "",
             "Vellum's binaries contain, or need, these projects. Their licences are in the folder licences/ of the source",
             "archive and in each package.", ""]
    for component in components():
        lines += [f"{component['name']} {component['version']} ({component['license']})", f"  {component['url']}",
                  f"  {component['use']}", ""]
    return "\n".join(lines)


def copyright_of(package):
    parts = ["This is Vellum, a Vulkan compute inference runtime for vision models.", "", COPYRIGHT, "",
             "Licensed under the Apache License, Version 2.0. On Debian systems its text is in",
             "/usr/share/common-licenses/Apache-2.0.", ""]
    for component in components_in(package):
        rule = "-" * 100
        title = f"{component['name']} {component['version']}: {component['use']}"
        parts += [rule, title, rule, component["copyright"].strip(), ""]
    return "\n".join(parts)


def digest(path, algorithm):
    return hashlib.new(algorithm, path.read_bytes()).hexdigest()


def spdx(files):
    """https://spdx.github.io/spdx-spec/v2.3/: a package for each file, and for each project that they contain."""
    created = datetime.datetime.fromtimestamp(int(os.environ.get("SOURCE_DATE_EPOCH", "0")), datetime.timezone.utc)
    packages, relations = [], []
    for component in components():
        name = "SPDXRef-" + component["package"]
        packages.append({"SPDXID": name, "name": component["name"], "versionInfo": component["version"],
                         "downloadLocation": component["url"], "filesAnalyzed": False, "comment": component["use"],
                         "licenseConcluded": component["license"], "licenseDeclared": component["license"],
                         "copyrightText": "NOASSERTION"})
    for path in sorted(files):
        name = "SPDXRef-" + re.sub(r"[^\w.-]", "-", path.name).replace("_", "-")
        packages.append({"SPDXID": name, "name": path.name, "versionInfo": project_version(),
                         "packageFileName": path.name, "downloadLocation": "NOASSERTION",
                         "filesAnalyzed": False, "licenseConcluded": "NOASSERTION",
                         "licenseDeclared": "Apache-2.0", "copyrightText": COPYRIGHT,
                         "checksums": [{"algorithm": "SHA256", "checksumValue": digest(path, "sha256")}]})
        relations.append(("SPDXRef-DOCUMENT", "DESCRIBES", name))
        relations += [(name, "DEPENDS_ON", "SPDXRef-" + part["package"]) for part in components_in(path.name)]
    version = project_version()
    identity = hashlib.sha256("".join(digest(path, "sha256") for path in sorted(files)).encode()).hexdigest()
    return {"spdxVersion": "SPDX-2.3", "dataLicense": "CC0-1.0", "SPDXID": "SPDXRef-DOCUMENT", "name": f"vellum-{version}",
            "documentNamespace": f"https://spdx.org/spdxdocs/vellum-{version}-{identity}",
            "creationInfo": {"created": created.strftime("%Y-%m-%dT%H:%M:%SZ"), "creators": ["Tool: vellum-third_party.py"]},
            "packages": packages,
            "relationships": [{"spdxElementId": a, "relationshipType": kind, "relatedSpdxElement": b}
                              for a, kind, b in relations]}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("what", choices=["notice", "copyright", "licences", "spdx"])
    parser.add_argument("arguments", nargs="*")
    given = parser.parse_args()
    if given.what == "notice":
        sys.stdout.write(notice())
    elif given.what == "copyright":
        sys.stdout.write(copyright_of(given.arguments[0]))
    elif given.what == "licences":
        folder = pathlib.Path(given.arguments[0])
        folder.mkdir(parents=True, exist_ok=True)
        for component in components():
            (folder / f"{component['package']}.txt").write_text(component["copyright"])
    else:
        print(json.dumps(spdx([pathlib.Path(name) for name in given.arguments]), indent=1))


if __name__ == "__main__":
    main()

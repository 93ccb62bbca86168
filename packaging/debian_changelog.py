#!/usr/bin/python3
"""Writes the two changelogs of a Debian package: debian_changelog.py RELEASE MAINTAINER DEBIAN.gz UPSTREAM.gz

The dates are SOURCE_DATE_EPOCH's, so that the same source gives the same files.
"""
import email.utils
import gzip
import os
import pathlib
import sys

sys.dont_write_bytecode = True
import third_party  # noqa: E402


def write(path, text):
    pathlib.Path(path).write_bytes(gzip.compress(text.encode(), 9, mtime=0))


release, maintainer, debian, upstream = sys.argv[1:]
date = email.utils.formatdate(int(os.environ.get("SOURCE_DATE_EPOCH", "0")))
version = f"{third_party.project_version()}-{release}"
write(debian, f"vellum ({version}) unstable; urgency=medium\n\n  * New upstream release.\n\n -- {maintainer}  {date}\n")
write(upstream, (third_party.ROOT / "CHANGELOG.md").read_text())

#!/usr/bin/python3
"""The table of docs/platforms.md: a row for each record of record.py.

    table.py           writes it
    table.py --check   fails if the page has another table than the records
"""
import json
import pathlib
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
RESULTS = pathlib.Path(__file__).resolve().parent / "results"
PAGE = ROOT / "docs/platforms.md"
BEGIN, END = "<!-- written by tests/platforms/table.py -->\n", "<!-- end of what table.py writes -->\n"


def outcome(record):
    """What a record says in words."""
    if "compiled" in record:
        compiled, sources = record["compiled"], record["sources"]
        return f"compiles: {compiled} of {sources} files"
    return f"ran: {record['passed']} passed, {record['skipped']} skipped, {record['failed']} failed"


def rows():
    """What ran before what was only compiled; both by platform."""
    records = [json.loads(file.read_text()) for file in RESULTS.glob("*.json")]
    yield "| platform | compiler | result | under | command | day, revision |"
    yield "| --- | --- | --- | --- | --- | --- |"
    for record in sorted(records, key=lambda record: ("compiled" in record, record["platform"], record["compiler"])):
        result = outcome(record) + (f"; {record['note']}" if record["note"] else "")
        yield (f"| {record['platform']} | {record['compiler']} | {result} | {record['under'] or '-'} | `{record['command']}` "
               f"| {record['date']}, {record['revision']} |")


def renewed(page):
    before, begin, rest = page.partition(BEGIN)
    _, end, after = rest.partition(END)
    if not begin or not end:
        sys.exit(f"table.py: {PAGE} has not the two comments between which the table stands")
    return before + begin + "\n" + "\n".join(rows()) + "\n\n" + end + after


def renew():
    PAGE.write_text(renewed(PAGE.read_text()))


def main():
    if sys.argv[1:] == ["--check"]:
        page = PAGE.read_text()
        if page != renewed(page):
            sys.exit(f"table.py: the table of {PAGE} is not that of the records; run {pathlib.Path(__file__).name}")
    elif sys.argv[1:]:
        sys.exit(__doc__)
    else:
        renew()


if __name__ == "__main__":
    main()

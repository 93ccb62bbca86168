"""HTML for notebooks: every text is escaped, for names come from model files."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape


def table(caption: str, head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table; cells that begin with a digit are aligned to the right."""

    def cell(value: str) -> str:
        align = "right" if value[:1].isdigit() else "left"
        return f'<td style="text-align:{align}">{escape(value)}</td>'

    header = "".join(f"<th>{escape(name)}</th>" for name in head) if any(head) else ""
    body = "".join(f"<tr>{''.join(map(cell, row))}</tr>" for row in rows)
    return f"<table><caption>{escape(caption)}</caption><thead><tr>{header}</tr></thead><tbody>{body}</tbody></table>"


def size(bytes: int) -> str:
    """A number of bytes for people: `1.5 MiB`."""
    value = float(bytes)
    for unit in ("B", "KiB", "MiB"):
        if value < 1024:
            return f"{value:.0f} B" if unit == "B" else f"{value:.1f} {unit}"
        value /= 1024
    return f"{value:.1f} GiB"

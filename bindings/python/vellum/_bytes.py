"""Numbers of bytes as people write them."""

from __future__ import annotations

import re

_UNITS = {"": 1, "k": 10**3, "m": 10**6, "g": 10**9, "ki": 2**10, "mi": 2**20, "gi": 2**30}


def byte_count(value: int | str) -> int:
    """The number that "48MiB", "1.5 GiB" or "500kB" means, as for the tool; numbers as they are. Raises ValueError."""
    if not isinstance(value, str):
        return value
    match = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*([kmg]i?)?b?\s*", value, re.IGNORECASE)
    if not match:
        raise ValueError(f"{value!r} is no number of bytes; write it like 48MiB, 1.5GiB or 500kB")
    return int(float(match[1]) * _UNITS[(match[2] or "").lower()])

"""Sessions that share memory, and memory that is given back."""

from __future__ import annotations

import pytest
import vellum
from conftest import same, zeros
from vellum import ErrorCode


def test_sessions_of_a_pool_share_their_memory(face, device, image, expected) -> None:
    pool = vellum.MemoryPool(device)
    sessions = [vellum.Session(face, device, memory_pool=pool) for _ in range(2)]
    for session in sessions:
        assert same(session.run({"input:0": image}), expected)
    alone = vellum.Session(face, device).memory().allocated_bytes
    assert 0 < pool.bytes < 2 * alone
    pool.trim()
    assert pool.bytes == 0
    pool.close()
    assert same(sessions[0].run({"input:0": image}), expected)
    with pytest.raises(vellum.Error, match="the MemoryPool is closed"):
        vellum.Session(face, device, memory_pool=pool)


def test_a_pool_may_refuse_runs_that_overlap(slow, device) -> None:
    pool = vellum.MemoryPool(device, overlap="refuse")
    first, second = (vellum.Session(slow.model, device, memory_pool=pool, max_submit_ms=1) for _ in range(2))
    inputs = zeros(first)
    run = first.submit(inputs)
    with pytest.raises(vellum.Error) as raised:
        second.submit(inputs)
    assert raised.value.code == ErrorCode.INVALID_ARGUMENT
    run.result()
    assert same(second.run(inputs), run.result())


def test_trim_gives_memory_back(face, device, image, expected) -> None:
    session = vellum.Session(face, device)
    before = session.memory().allocated_bytes
    for what in ("intermediates", "weights"):
        session.trim(what)
        assert session.memory().allocated_bytes < before
        assert same(session.run({"input:0": image}), expected)
    with pytest.raises(vellum.Error, match="what has no value"):
        session.trim("everything")

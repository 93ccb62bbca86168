"""Reports, estimates, bundles, tuning and progress."""

from __future__ import annotations

import io
import json
import sys
from xml.etree import ElementTree

import pytest
import vellum
from conftest import DATA, CtrlC, same
from vellum import ErrorCode
from vellum._html import table
from vellum._progress import ProgressLine, Reporter


def test_the_memory_report_counts_what_shares_memory(session) -> None:
    report = session.memory()
    assert report.naive_bytes > report.planned_bytes >= report.lower_bound_bytes > 0
    assert len(report.objects) > 1 and sum(entry.reuse_count for entry in report.objects) == 41
    assert report.weights_bytes > 0 and report.in_out_bytes > 0 and report.in_flight == 1
    assert repr(report).startswith("<vellum.MemoryReport: 41 tensors of 4.")
    assert (report.mode, report.strategy) == ("shared-objects", "best")
    for tensor in report.tensors:
        holder = report.objects[tensor.object]
        assert tensor.name in holder.tensors and tensor.offset + tensor.bytes <= holder.bytes
        assert 0 <= tensor.first_task <= tensor.last_task
        assert holder.arena_offset + holder.bytes <= report.arenas[holder.arena]


def test_the_memory_map_is_a_picture(session) -> None:
    report = session.memory()
    svg = ElementTree.fromstring(report.svg("A <title>"))
    assert svg.tag.endswith("svg") and "A <title>" in "".join(svg.itertext())
    assert report._repr_svg_().startswith("<svg") and report._repr_svg_() in report._repr_html_()
    assert all(name in report._repr_html_() for name in report.objects[0].tensors)
    session.memory()
    assert report.svg("A <title>")  # it is a value: it does not change with the session


def test_a_report_of_a_session_that_is_not_prepared_is_empty(device) -> None:
    report = vellum.Session(DATA / "models" / "ch_ppocr_mobile_v2.0_cls_infer.onnx", device).memory()
    assert report.objects == () and report.mode == "" and report._repr_svg_() is None


def test_a_profile_has_times_a_page_and_a_trace(session, face, device, image, expected) -> None:
    with pytest.raises(vellum.Error, match="profile=True"):
        session.profile()
    profiled = vellum.Session(face, device, profile=True)
    with pytest.raises(vellum.Error) as raised:
        profiled.profile()
    assert raised.value.code == ErrorCode.INVALID_ARGUMENT
    assert same(profiled.run({"input:0": image}), expected)
    profile = profiled.profile("Faces in a picture")
    assert len(profile.layers) > 20 and profile.total_ms > 0 and profile.layers[0].begin_ms == 0
    assert {"Conv"} <= {layer.op for layer in profile.layers} and profile.layers[0].workgroups[0] > 0
    assert "Faces in a picture" in profile.html and device.name in profile.html
    assert len(json.loads(profile.trace)["traceEvents"]) > len(profile.layers)
    assert "<html" not in profile._repr_html_() and profile._repr_html_().startswith("<iframe")
    assert f"{len(profile.layers)} tasks" in repr(profile)


def test_a_memory_budget_is_reported_and_kept(face_file, face, device, image) -> None:
    with pytest.raises(vellum.Error, match="smallest that suffices is") as raised:
        vellum.Session(face, device, memory_budget=1)
    assert raised.value.code == ErrorCode.OUT_OF_MEMORY
    budget = int(str(raised.value).split("the smallest that suffices is ")[1].split()[0])
    session = vellum.Session(face, device, memory_budget=budget)
    session.run({"input:0": image})
    memory = session.memory()
    assert memory.memory_budget == budget and 0 < memory.budget_used_bytes <= memory.budget_peak_bytes <= budget
    assert 0 < memory.weights_bytes <= memory.peak_weights_bytes and memory.total_weights_bytes > 0


def test_measured_memory_is_what_was_estimated(face_file, face, device) -> None:
    measured = vellum.measure_memory(face_file, device=device.info.uuid)
    estimate = vellum.estimate_memory(face, device=device)
    for name in ("weights", "in_out", "intermediates", "workspace"):
        assert getattr(measured, name) == getattr(estimate, name), name
    assert measured.allocated_peak == estimate.allocated_peak
    # Memory that earlier tests freed is taken again, without the process becoming larger.
    assert measured.process_bytes is None or measured.process_bytes > measured.allocated_peak // 2
    assert "weights" in measured._repr_html_() and "of them from Vulkan" in repr(measured)
    parts = ("padding", "host", "driver_code", "pipeline_code")
    assert estimate.resident == sum(getattr(estimate, name) for name in parts)
    assert 0 < estimate.pipelines <= estimate.dispatches and estimate.allocated_weights >= estimate.weights
    with pytest.raises(vellum.Error) as raised:
        vellum.measure_memory("none.onnx")
    assert raised.value.code == ErrorCode.NOT_FOUND


def test_the_frontier_tells_what_budgets_cost(face, device) -> None:
    seen: list[tuple[int, int]] = []
    frontier = vellum.memory_frontier(face, device=device, progress=lambda _, done, total: seen.append((done, total)))
    points = frontier.points
    assert len(points) > 2 and seen[0][0] == 0 and seen[-1][0] == seen[-1][1]
    assert [point.budget for point in points] == sorted(point.budget for point in points)
    assert all(point.bytes <= point.budget and point.predicted_ms > 0 for point in points)
    assert points[0].predicted_ms >= points[-1].predicted_ms and points[-1].streamed_bytes == 0
    assert frontier.knee in points and f"{len(points)} points" in repr(frontier)
    with pytest.raises(vellum.Error, match=f"smallest that suffices is {points[0].budget} bytes"):
        vellum.Session(face, device, memory_budget=1)
    vellum.Session(face, device, memory_budget=points[0].budget)
    drawn = ElementTree.fromstring(frontier.svg("A <title>", [1.0] * len(points)))
    assert drawn.tag.endswith("svg") and "A <title>" in "".join(drawn.itertext())
    assert frontier.svg() in frontier._repr_html_()
    two = vellum.memory_frontier(face, device=device, budgets=[1, points[-1].budget])
    assert [point.budget for point in two.points] == [points[-1].budget]
    none = vellum.memory_frontier(face, caps=device.caps, budgets=[1])
    assert none.points == () and none.knee is None and "no points" in repr(none) and "no points" in none._repr_html_()
    for wrong in ({"budgets": [0]}, {"weights_budget": 1 << 20}):
        with pytest.raises(vellum.Error) as raised:
            vellum.memory_frontier(face, device=device, **wrong)
        assert raised.value.code == ErrorCode.INVALID_ARGUMENT
    with pytest.raises(vellum.Error, match="1 measured times"):
        frontier.svg("", [1.0])


def test_graph_passes_can_be_left_out(face) -> None:
    passes = vellum.graph_passes()
    assert len(passes) > 5 and len(set(passes)) == len(passes)
    without = vellum.describe(face, "graph", disabled_passes=passes)
    assert without != vellum.describe(face, "graph")


def test_plans_and_stages_need_no_session(face, device, session) -> None:
    plan = vellum.plan_memory(face, device=device)
    assert plan.tensors == session.memory().tensors and plan.planned_bytes == session.memory().planned_bytes
    assert plan.weights_bytes == 0 and plan.svg()
    assert vellum.plan_memory(face, caps=device.caps, memory="naive").mode == "naive"
    assert "Conv" in vellum.describe(face, "graph")
    assert vellum.describe(face, "program", device=device) == vellum.describe(face, "program", caps=device.caps)
    with pytest.raises(vellum.Error, match="stage"):
        vellum.describe(face, "nonsense")


def test_names_cannot_become_markup() -> None:
    assert "<script>" not in table("<script>", ["<script>"], [["<script>"]])


def test_estimates_predict_what_is_allocated(face, device, session) -> None:
    estimate = vellum.estimate_memory(face, device=device)
    memory = session.memory()
    assert estimate.allocated_peak >= memory.allocated_bytes + memory.weights_bytes
    assert estimate.total > estimate.weights > 0
    assert vellum.estimate_memory(face).driver_known is False
    assert "MiB" in repr(estimate) and "MiB" in estimate._repr_html_()
    assert vellum.estimate_memory(face, precision="fp16").weights < vellum.estimate_memory(face).weights
    with pytest.raises(vellum.Error, match="caps"):
        vellum.estimate_memory(face, caps="{}")


def test_a_bundle_gives_the_same_results(face_file, device, image, expected, tmp_path) -> None:
    summary = vellum.write_bundle(face_file, tmp_path / "face.vlm", device=device)
    assert summary.shaders > 10 and summary.weights > 10 and summary.file_bytes == (tmp_path / "face.vlm").stat().st_size
    for limits in vellum.LoadLimits(), vellum.LoadLimits(trusts_shaders=True, nesting=0):
        bundle = vellum.Model(tmp_path / "face.vlm", limits=limits)
        assert same(vellum.Session(bundle, device).run({"input:0": image}), expected)


def test_a_bundle_has_the_shaders_of_frames(face_file, face, device, tmp_path) -> None:
    plain = vellum.write_bundle(face_file, tmp_path / "face.vlm", device=device)
    frames = [vellum.FrameInput("rgb8", 64, 64), vellum.FrameInput("nv12", 64, 64, filter="area")]
    framed = vellum.write_bundle(face_file, tmp_path / "framed.vlm", device=device, frames={"input:0": frames})
    assert framed.shaders >= plain.shaders + 2 and framed.weights >= plain.weights
    assert vellum.write_bundle(face_file, tmp_path / "one.vlm", frames={"input:0": frames[0]}).shaders > 0
    with pytest.raises(vellum.Error) as raised:
        vellum.write_bundle(face_file, tmp_path / "none.vlm", frames={"input:1": frames[0]})
    assert raised.value.code == ErrorCode.NOT_FOUND


def test_a_bundle_in_memory_is_that_of_the_file(face_file, device, image, expected, tmp_path) -> None:
    frames = {"input:0": vellum.FrameInput("rgb8", 64, 64)}
    written = vellum.write_bundle(face_file, tmp_path / "face.vlm", device=device, frames=frames, images=True)
    made, summary = vellum.bundle_in_memory(face_file.read_bytes(), device=device, frames=frames, images=True)
    assert summary == written and made == (tmp_path / "face.vlm").read_bytes()
    assert same(vellum.Session(vellum.Model(made), device).run({"input:0": image}), expected)
    plain, fewer = vellum.bundle_in_memory(face_file.read_bytes(), device=device, frames=frames)
    assert len(plain) == fewer.file_bytes and fewer.shaders < summary.shaders
    with pytest.raises(vellum.Error):
        vellum.bundle_in_memory(b"no model", device=device)


def test_counts_are_those_of_the_estimate(face, device, session) -> None:
    estimate = vellum.estimate_memory(face, device=device)
    assert (session.dispatch_count, session.pipeline_count) == (estimate.dispatches, estimate.pipelines)
    assert 0 < session.barrier_count <= session.dispatch_count


def test_tuning_reports_progress_and_is_forgotten(face, image) -> None:
    device = vellum.Device()
    steps: list[str] = []
    result = vellum.tune(face, device, seconds=0.001, storages=False, progress=lambda step, *_: steps.append(step))
    assert not result.complete and result.seconds > 0 and "operators" in steps
    assert result.storage in ("buffer", "image2d", "image3d", "mixed") and result.operator_count >= result.measured_count
    device.forget_crashes()
    assert device.crashes() == []
    device.forget_tuning()


def test_ctrl_c_ends_tuning(face, device) -> None:
    calls: list[str] = []

    def stop(step: str, *_: object) -> None:
        calls.append(step)
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        vellum.tune(face, device, progress=stop)
    assert len(calls) < 3
    with pytest.raises(KeyboardInterrupt):
        vellum.tune(face, device, progress=CtrlC())


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_the_line_of_progress_is_for_terminals_alone(monkeypatch, face, device) -> None:
    monkeypatch.setattr(sys, "stderr", Terminal())
    vellum.Session(face, device, progress=True)
    shown = sys.stderr.getvalue()
    assert "vellum: pipelines" in shown and shown.endswith("\r")
    for progress, stream in ((False, Terminal()), (True, io.StringIO())):
        monkeypatch.setattr(sys, "stderr", stream)
        vellum.Session(face, device, progress=progress)
        assert stream.getvalue() == ""


def test_a_line_covers_the_longer_one_before(monkeypatch) -> None:
    monkeypatch.setattr(sys, "stderr", io.StringIO())
    line = ProgressLine()
    line("operators", 5, 10)
    line("network", 0, 0)
    assert sys.stderr.getvalue().split("\r")[1:] == [
        "vellum: operators   5/10 [###############               ]",
        f"{'vellum: network':57}",
    ]
    with Reporter(True) as report:
        report("nothing is written", 0, 0)
    assert "nothing" not in sys.stderr.getvalue()

"""The check of a device's kernels."""

from __future__ import annotations

import math
from typing import Any

import pytest
import vellum
from conftest import CtrlC
from vellum import ErrorCode, _c_api


def test_the_kernels_of_this_device_are_right(device) -> None:
    steps = []
    checks = vellum.check_kernels(device, only="Conv 1x1", repetitions=2, progress=lambda *step: steps.append(step))
    assert checks and all(check.passed and check.difference <= check.bound and not check.failure for check in checks)
    assert {check.precision for check in checks} == {"fp32", "fp16"}
    assert {"image2d", "image3d", "buffer"} == {check.storage for check in checks}
    assert {check.arithmetic for check in checks} <= {"fp32", "fp16"}
    assert steps[0][:2] == ("kernels", 0)


def test_each_layer_of_a_model_is_right_in_its_own_shapes(face, device) -> None:
    steps = []
    checks = vellum.check_layers(face, device, only="conv2d_1", progress=lambda *step: steps.append(step))
    assert checks and all(check.passed for check in checks)
    assert all("conv2d_1" in check.operation and check.precision == "fp32" for check in checks)
    assert steps[0][:2] == ("layers", 0)
    assert all(check.precision == "fp16" for check in vellum.check_layers(face, device, only="conv2d_1", precision="fp16"))
    with pytest.raises(vellum.Error, match="Frobnicate") as raised:
        vellum.check_layers(face, device, only="Frobnicate")
    assert raised.value.code == ErrorCode.NOT_FOUND


def test_what_ends_the_check(device) -> None:
    def stop(*_: object) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        vellum.check_kernels(device, only="Resize", progress=stop)
    with pytest.raises(KeyboardInterrupt):
        vellum.check_kernels(device, progress=CtrlC())
    with pytest.raises(vellum.Error, match="Frobnicate") as raised:
        vellum.check_kernels(device, only="Frobnicate")
    assert raised.value.code == ErrorCode.NOT_FOUND
    with pytest.raises(vellum.Error, match="repetitions is 0, expected 1 to 1000000"):
        vellum.check_kernels(device, repetitions=0)


def test_a_driver_that_tells_nothing_of_its_code_is_named(face, device) -> None:
    try:
        report = vellum.kernel_report(face, device, representations=True)
    except vellum.Error as error:
        assert error.code == ErrorCode.UNSUPPORTED and "VK_KHR_pipeline_executable_properties" in str(error)
    else:
        assert len(report.dispatches) == vellum.Session(face, device).dispatch_count
    assert vellum.known_rates(device) is None


class ReportedByC:
    """Stands for the library: a report of one pipeline with one code, and one dispatch."""

    def __init__(self) -> None:
        self.rates_given: vellum.DeviceRates | None = None
        self.destroyed = 0

    def __getattr__(self, name: str) -> Any:
        return getattr(vellum.library, name)

    def vellum_kernel_report_create(self, _device, _model, _session_options, options, report, _error) -> int:
        given = options._obj.rates.contents
        self.rates_given = vellum.DeviceRates(given.gigamacs_per_s, given.gigabytes_per_s, given.units, given.lanes)
        assert options._obj.representations == 1
        report._obj.value = 1
        return 0

    def vellum_kernel_report_destroy(self, _report) -> None:
        self.destroyed += 1

    def vellum_kernel_report_rates(self, _report, rates, known, _error) -> int:
        rates._obj.gigamacs_per_s, rates._obj.units, rates._obj.barrier_us, known._obj.value = 1000, 8, 3, 1
        return 0

    def vellum_kernel_report_pipeline_count(self, _report) -> int:
        return 1

    def vellum_kernel_report_dispatch_count(self, _report) -> int:
        return 1

    def vellum_kernel_report_pipeline(self, _report, _index, pipeline, _error) -> int:
        entry = pipeline._obj
        entry.shader, entry.variant, entry.code_count = b"conv", b"TILE=4", 1
        entry.workgroup_size[:] = [64, 2, 1]
        self.defines = (_c_api.vellum_kernel_define * 1)((b"TILE", b"4"))
        entry.defines, entry.define_count = self.defines, 1
        return 0

    def vellum_kernel_report_code(self, _report, _pipeline, _index, code, _error) -> int:
        entry = code._obj
        entry.name, entry.subgroup_size, entry.registers, entry.spills = b"SIMD16 compute", 16, 24, float("nan")
        self.statistics = (_c_api.vellum_kernel_statistic * 1)((b"VGPRs", b"registers", 24))
        self.representations = (_c_api.vellum_kernel_representation * 1)((b"asm", b"assembly", b"s_endpgm"))
        entry.statistics, entry.statistic_count = self.statistics, 1
        entry.representations, entry.representation_count = self.representations, 1
        return 0

    def vellum_kernel_report_dispatch(self, _report, _index, dispatch, _error) -> int:
        entry = dispatch._obj
        entry.name, entry.op, entry.pipeline, entry.barrier, entry.macs = b"conv1", b"Conv", 0, 1, 12345
        entry.workgroups[:] = [3, 5, 1]
        entry.predicted_us, entry.busy, entry.efficiency = 7.5, 0.5, 0.25
        return 0


def test_reports_have_all_that_c_reports(face, device, monkeypatch) -> None:
    library = ReportedByC()
    monkeypatch.setattr(vellum._kernels, "library", library)
    rates = vellum.DeviceRates(gigamacs_per_s=10.0, gigabytes_per_s=20.0, units=3, lanes=4)
    report = vellum.kernel_report(face, device, rates=rates, representations=True)
    assert library.rates_given == rates and library.destroyed == 1
    assert report.rates == vellum.DeviceRates(gigamacs_per_s=1000.0, units=8, barrier_us=3.0)
    (pipeline,), (dispatch,) = report.pipelines, report.dispatches
    assert (pipeline.shader, pipeline.variant, pipeline.defines) == ("conv", "TILE=4", {"TILE": "4"})
    assert pipeline.workgroup_size == (64, 2, 1)
    (code,) = pipeline.codes
    assert (code.name, code.subgroup_size, code.registers) == ("SIMD16 compute", 16, 24) and math.isnan(code.spills)
    assert code.statistics == (vellum.KernelStatistic("VGPRs", "registers", 24.0),)
    assert code.representations == (vellum.KernelRepresentation("asm", "assembly", "s_endpgm"),)
    assert (dispatch.name, dispatch.op, dispatch.barrier, dispatch.macs) == ("conv1", "Conv", True, 12345)
    assert (dispatch.workgroups, dispatch.predicted_us, dispatch.busy, dispatch.efficiency) == ((3, 5, 1), 7.5, 0.5, 0.25)
    assert "1 dispatches of 1 pipelines" in repr(report) and "conv1" in report._repr_html_()

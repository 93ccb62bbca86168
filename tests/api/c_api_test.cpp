#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <iterator>

#include "c_api/kernel_report.hpp"
#include "c_program.h"
#include "small_model.hpp"
#include "support/temp_folder.hpp"
#include "vellum/pack.hpp"

namespace vellum::test {
namespace {

// `bytes`: a file of the model, which the program in C loads.
void check_in_c(const OnnxModel& model, const std::string& bytes) {
  const Graph graph = model.graph();
  const std::vector<HostTensor> inputs = random_inputs(graph, 7);
  const HostTensor expected = evaluate(graph, inputs).front();
  HostTensor output(expected.dtype(), expected.shape());
  const auto in = inputs.front().as<float>();
  const auto out = output.mutable_as<float>();
  char what[512] = "";
  EXPECT_EQ(run_in_c(bytes.data(), bytes.size(), in.data(), in.size(), out.data(), out.size(), what), 0)
      << what;
  EXPECT_TRUE(close(output, expected));
}

TEST(CApi, ProgramInCComputesWhatTheHostReferenceDoes) { check_in_c(small_model(), small_model().bytes()); }

TEST(CApi, OutputsMayHaveAnotherShapeAfterEachRun) {
  OnnxModel model;
  model.input("x", {4})
      .node("Relu", {"x"}, {"positive"})
      .node("NonZero", {"positive"}, {"places"})
      .output("places");
  const std::string bytes = model.bytes();
  char what[512] = "";
  EXPECT_EQ(find_in_c(bytes.data(), bytes.size(), what), 0) << what;
}

TEST(CApi, PackedModelsLoadAsOthersDo) {
  const TempFolder folder;
  const OnnxModel model = small_model();
  model.save(folder / "model.onnx");
  pack(folder / "model.onnx", folder / "packed", Caps::android_baseline_2022());
  std::ifstream stream(folder / "packed", std::ios::binary);
  const std::string bytes{std::istreambuf_iterator<char>(stream), std::istreambuf_iterator<char>()};
  check_in_c(model, bytes);
}

TEST(CApi, SubmittedRunsComputeWhatTheHostReferenceDoes) {
  const Graph graph = small_model().graph();
  const std::vector<HostTensor> inputs = random_inputs(graph, 7);
  const HostTensor expected = evaluate(graph, inputs).front();
  const std::string bytes = small_model().bytes();
  const auto in = inputs.front().as<float>();
  const size_t count = static_cast<size_t>(expected.elements());
  std::vector<float> out(3 * count);
  char what[512] = "";
  EXPECT_EQ(submit_in_c(bytes.data(), bytes.size(), in.data(), in.size(), out.data(), count, what), 0)
      << what;
  for (size_t i = 0; i < 3; ++i)
    EXPECT_TRUE(close(HostTensor::f32(expected.shape(), std::span(out).subspan(i * count, count)), expected));
}

TEST(CApi, ReportsWhatTheInterfaceOfCppReports) {
  const TempFolder folder;
  small_model().save(folder / "model.onnx");
  const std::string bytes = small_model().bytes(), file = (folder / "model.onnx").string();
  const std::vector<HostTensor> inputs = random_inputs(small_model().graph(), 7);
  const auto in = inputs.front().as<float>();
  char what[512] = "";
  EXPECT_EQ(report_in_c(bytes.data(), bytes.size(), file.c_str(), in.data(), in.size(), what), 0) << what;
}

TEST(CApi, ModelsAreQuantised) {
  const std::string bytes = small_model().bytes();
  char what[512] = "";
  EXPECT_EQ(quantize_in_c(bytes.data(), bytes.size(), what), 0) << what;
}

TEST(CApi, KernelsAreChecked) {
  char what[512] = "";
  EXPECT_EQ(check_kernels_in_c(what), 0) << what;
}

// A report of plain values: no driver on the CPU reports its machine code.
KernelReport example_kernel_report() {
  KernelCode code;
  code.subgroup_size = 16;
  code.registers = 24;
  code.spills = std::nan("");
  code.statistics = {{"VGPRs", "registers", 24}};
  code.representations = {{"Assembly", "of the device", "s_endpgm"}};
  KernelReport report;
  report.rates = {.gigamacs_per_s = 1000, .units = 8, .barrier_us = 3};
  report.pipelines = {{.shader = "conv",
                       .defines = {{"TILE", "4"}},
                       .variant = "TILE=4",
                       .workgroup_size = {64, 1, 1},
                       .code = {KernelCode(), code}}};
  KernelDispatch dispatch;
  dispatch.name = "conv1";
  dispatch.op = "Conv";
  dispatch.workgroups = {4, 5, 6};
  dispatch.macs = 12345;
  dispatch.barrier = true;
  dispatch.predicted_us = 7.5;
  dispatch.busy = 0.5;
  dispatch.efficiency = 0.25;
  report.dispatches = {dispatch};
  return report;
}

TEST(CApi, KernelReportsAreThoseOfCpp) {
  const vellum_kernel_report report(example_kernel_report());
  char what[512] = "";
  EXPECT_EQ(read_kernel_report_in_c(&report, what), 0) << what;
}

TEST(CApi, ModelsAndBundlesInMemory) {
  const std::string bytes = small_model().bytes();
  const Graph graph = small_model().graph();
  const std::vector<HostTensor> inputs = random_inputs(graph, 7);
  const HostTensor expected = evaluate(graph, inputs).front();
  const auto in = inputs.front().as<float>();
  const size_t count = static_cast<size_t>(expected.elements());
  std::vector<float> out(2 * count);
  char what[512] = "";
  EXPECT_EQ(in_memory_in_c(bytes.data(), bytes.size(), in.data(), in.size(), out.data(), count, what), 0)
      << what;
  for (size_t i = 0; i < 2; ++i)
    EXPECT_TRUE(close(HostTensor::f32(expected.shape(), std::span(out).subspan(i * count, count)), expected));
}

TEST(CApi, StructsOfOtherVersionsAreFilledAsFarAsTheyReach) {
  char what[512] = "";
  EXPECT_EQ(sizes_in_c(what), 0) << what;
}

TEST(CApi, MisuseGivesAStatusAndAMessage) {
  const std::string bytes = small_model().bytes();
  char what[512] = "";
  EXPECT_EQ(misuse_in_c(bytes.data(), bytes.size(), what), 0) << what;
}

}  // namespace
}  // namespace vellum::test

// ONNX's own single-operator tests through a session on the device: no wrong answer, and no test lost that
// ran on the GPU alone before. Run with VELLUM_RECORD_PASSES=1 to write down what passes now, with
// VELLUM_NAME_TESTS=1 to see which tests the host helped or were refused, with VELLUM_RESULTS=FILE to write
// the result of each test, for a suite that is not installed (write_newest_suite.py).
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <map>
#include <set>

#include "node_test.hpp"
#include "scoreboard.hpp"
#include "support/environment.hpp"
#include "vellum/vellum.hpp"

namespace vellum::conformance {
namespace {

Device open_device() {
  DeviceOptions options;
  options.validation = test::with_validation();
  return Device::open(options);
}

struct Outcome {
  std::string wrong;    // empty: every output equals the expected one
  std::string on_host;  // empty: no node ran on the host
};

// Devices compute in 32 bits: a float64 value beyond float32 is infinite there.
HostTensor as_on_device(const HostTensor& tensor) {
  return tensor.dtype() == DType::f64 ? cast(cast(tensor, DType::f32), DType::f64) : tensor;
}

Outcome run_on_device(const Device& device, const Model& model, const NodeTest& test, int set) {
  const auto inputs = read_tensors(test, set, "input"), expected = read_tensors(test, set, "output");
  const auto names = model.inputs();
  SessionOptions options;
  std::map<std::string, Tensor> feeds;
  for (size_t i = 0; i < names.size() && i < inputs.size(); ++i) {
    options.input_shapes[names[i].name] = inputs[i].shape();
    feeds[names[i].name] = inputs[i];
  }
  Session session(device, model, options);
  const auto outputs = session.run(feeds);
  Outcome outcome;
  if (!session.warnings().empty()) outcome.on_host = session.warnings().front();
  const auto output_names = model.outputs();
  for (size_t i = 0; i < output_names.size() && i < expected.size(); ++i) {
    const std::string wrong = difference(outputs.at(output_names[i].name), as_on_device(expected[i]), 1e-5,
                                         relative_tolerance(test, set, i));
    if (!wrong.empty()) outcome.wrong = "output " + std::to_string(i) + ": " + wrong;
  }
  return outcome;
}

// All data sets of a test, or only the first where its inputs but one are part of the model.
Outcome run_all_sets(const Device& device, const Model& model, const NodeTest& test, bool first_only) {
  Outcome total;
  for (int set = 0; has_data_set(test, set) && total.wrong.empty() && (set == 0 || !first_only); ++set) {
    const Outcome outcome = run_on_device(device, model, test, set);
    total.wrong = outcome.wrong;
    if (!outcome.on_host.empty()) total.on_host = outcome.on_host;
  }
  return total;
}

Outcome run_with_constants(const Device& device, const NodeTest& test) {
  const std::string bytes = with_constant_inputs(test);
  return run_all_sets(device, Model::load(std::as_bytes(std::span(bytes))), test, true);
}

// The tests feed everything at run time, weights too, which are constants in real models; so they are here,
// where the host helps otherwise. In Debian's suite some data of bfloat16 has another shape than the model
// declares, which only constants may.
Outcome run_as_fed_or_with_constants(const Device& device, const NodeTest& test) {
  const Model model = Model::load(test.folder / "model.onnx");
  Outcome as_fed;
  try {
    as_fed = run_all_sets(device, model, test, false);
  } catch (const Error& error) {
    if (error.code() != ErrorCode::invalid_argument || model.inputs().size() < 2) throw;
    return run_with_constants(device, test);
  }
  if (model.inputs().size() < 2 || as_fed.on_host.empty() || !as_fed.wrong.empty()) return as_fed;
  try {
    const Outcome with_constants = run_with_constants(device, test);
    return with_constants.on_host.empty() ? with_constants : as_fed;
  } catch (const Error&) {
    return as_fed;
  }
}

bool has_empty_tensor(const NodeTest& test) {
  const auto inputs = read_tensors(test, 0, "input"), outputs = read_tensors(test, 0, "output");
  const auto empty = [](const HostTensor& tensor) { return tensor.elements() == 0; };
  return std::any_of(inputs.begin(), inputs.end(), empty) ||
         std::any_of(outputs.begin(), outputs.end(), empty);
}

struct DeviceScoreboard {
  Scoreboard gpu;   // passed: without the host
  Reasons on_host;  // right, with the host's help: the session's first warning
};

void run_test(const Device& device, const NodeTest& test, DeviceScoreboard& board) {
  try {
    const Outcome outcome = run_as_fed_or_with_constants(device, test);
    if (!outcome.wrong.empty()) {
      board.gpu.failed[test.name] = outcome.wrong;
    } else if (outcome.on_host.empty()) {
      board.gpu.passed.insert(test.name);
    } else {
      board.on_host[test.name] = reason(outcome.on_host);
    }
  } catch (const Error& error) {
    // Devices have no empty objects.
    const bool refusal = error.code() == ErrorCode::unsupported || has_empty_tensor(test);
    (refusal ? board.gpu.refused : board.gpu.failed)[test.name] = reason(error.what());
  }
}

// One line for each test: its name, where it ran (gpu, or host for some of its nodes), wrong or refused, and
// why.
void write_results(const std::filesystem::path& file, const DeviceScoreboard& board) {
  std::map<std::string, std::string> lines;
  for (const std::string& test : board.gpu.passed) lines[test] = "gpu";
  for (const auto& [test, why] : board.on_host) lines[test] = "host\t" + why;
  for (const auto& [test, why] : board.gpu.failed) lines[test] = "wrong\t" + why;
  for (const auto& [test, why] : board.gpu.refused) lines[test] = "refused\t" + why;
  std::ofstream out(file);
  out << "# " << board.gpu.passed.size() << " gpu, " << board.on_host.size() << " host, "
      << board.gpu.failed.size() << " wrong, " << board.gpu.refused.size() << " refused, of " << lines.size()
      << '\n';
  for (const auto& [test, result] : lines) out << test << '\t' << result << '\n';
}

// Checks that the tests named by the file still pass, unless the file is to be written anew.
void expect_no_loss(const std::filesystem::path& record, const std::set<std::string>& passed,
                    const char* what) {
  if (std::getenv("VELLUM_RECORD_PASSES") != nullptr) {
    std::ofstream file(record);
    for (const std::string& test : passed) file << test << '\n';
  }
  for (const std::string& test : read_names(record))
    EXPECT_TRUE(passed.contains(test)) << test << " " << what << " before";
}

class DeviceConformance : public testing::TestWithParam<std::string> {};

TEST_P(DeviceConformance, GivesNoWrongAnswerAndLosesNoPass) {
  const Device device = open_device();
  const auto tests = find_tests(test_data_root() / GetParam());
  ASSERT_FALSE(tests.empty()) << "no tests in " << test_data_root() / GetParam()
                              << ": install libonnx-testdata (./setup.sh tests)";
  DeviceScoreboard board;
  for (const NodeTest& test : tests) run_test(device, test, board);
  std::cout << board.gpu.text(GetParam()) << "  and " << board.on_host.size()
            << " passed with the host's help\n"
            << by_count("on the host", board.on_host);
  if (std::getenv("VELLUM_NAME_TESTS") != nullptr) {
    for (const auto& [test, why] : board.on_host)
      std::cout << "  " << test << " on the host: " << why << '\n';
    for (const auto& [test, why] : board.gpu.refused)
      std::cout << "  " << test << " refused: " << why << '\n';
  }
  EXPECT_TRUE(board.gpu.failed.empty());
  EXPECT_EQ(device.validation_messages(), 0u);
  // Another suite than Debian's, which the lists below are of.
  if (const char* results = std::getenv("VELLUM_RESULTS")) return write_results(results, board);
  const char* source = std::getenv("VELLUM_TEST_SOURCE");
  ASSERT_NE(source, nullptr) << "run through ctest";
  std::set<std::string> right = board.gpu.passed;
  for (const auto& [test, why] : board.on_host) right.insert(test);
  const auto folder = std::filesystem::path(source) / "conformance";
  expect_no_loss(folder / ("device_passes_" + GetParam() + ".txt"), board.gpu.passed, "ran on the GPU alone");
  expect_no_loss(folder / ("device_or_host_passes_" + GetParam() + ".txt"), right, "ran");
}

INSTANTIATE_TEST_SUITE_P(Onnx, DeviceConformance,
                         testing::Values("node", "pytorch-operator", "pytorch-converted", "simple"),
                         [](const auto& instance) {
                           std::string name = instance.param;
                           std::erase(name, '-');
                           return name;
                         });

}  // namespace
}  // namespace vellum::conformance

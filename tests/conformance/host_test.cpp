// ONNX's own single-operator tests on the host reference: no wrong answer, and no test lost that passed
// before. Run with VELLUM_RECORD_PASSES=1 to write down what passes now.
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <iostream>

#include "graph/graph.hpp"
#include "import/import.hpp"
#include "node_test.hpp"
#include "scoreboard.hpp"
#include "vellum/error.hpp"

namespace vellum::conformance {
namespace {

// In Debian's suite some data of bfloat16 has another shape than the model declares.
void check_data(const Graph& graph, const std::vector<HostTensor>& inputs) {
  for (size_t i = 0; i < graph.inputs.size() && i < inputs.size(); ++i) {
    const Value& value = graph.values[graph.inputs[i]];
    if (value.type_known && is_known(value.type.shape) && value.type.shape != inputs[i].shape())
      throw Error(ErrorCode::unsupported, "the test's data has another shape than its model declares");
  }
}

// Empty where every data set gives its outputs, else what differs.
std::string run_on_host(const NodeTest& test) {
  const Graph graph = import_model(test.folder / "model.onnx");
  for (int set = 0; has_data_set(test, set); ++set) {
    const auto inputs = read_tensors(test, set, "input");
    check_data(graph, inputs);
    const auto outputs = evaluate(graph, inputs);
    const auto expected = read_tensors(test, set, "output");
    if (outputs.size() != expected.size()) return "number of outputs";
    for (size_t i = 0; i < outputs.size(); ++i) {
      const std::string wrong = difference(outputs[i], expected[i], 1e-7, relative_tolerance(test, set, i));
      if (!wrong.empty()) return "output " + std::to_string(i) + ": " + wrong;
    }
  }
  return {};
}

Scoreboard run_suite(const std::string& suite) {
  Scoreboard board;
  for (const NodeTest& test : find_tests(test_data_root() / suite)) {
    try {
      const std::string wrong = run_on_host(test);
      if (wrong.empty()) {
        board.passed.insert(test.name);
      } else {
        board.failed[test.name] = wrong;
      }
    } catch (const Error& error) {
      // These files are valid: any other complaint is a mistake of ours.
      auto& list = error.code() == ErrorCode::unsupported ? board.refused : board.failed;
      list[test.name] = error.code() == ErrorCode::unsupported ? reason(error.what()) : error.what();
    }
  }
  return board;
}

class HostConformance : public testing::TestWithParam<std::string> {};

TEST_P(HostConformance, GivesNoWrongAnswerAndLosesNoPass) {
  const Scoreboard board = run_suite(GetParam());
  std::cout << board.text(GetParam());
  const char* source = std::getenv("VELLUM_TEST_SOURCE");
  ASSERT_NE(source, nullptr) << "run through ctest";
  const auto record = std::filesystem::path(source) / "conformance" / ("host_passes_" + GetParam() + ".txt");
  if (std::getenv("VELLUM_RECORD_PASSES") != nullptr) {
    std::ofstream file(record);
    for (const std::string& test : board.passed) file << test << '\n';
  }
  ASSERT_GT(board.passed.size() + board.refused.size(), 0u)
      << "no tests in " << test_data_root() / GetParam() << ": install libonnx-testdata (./setup.sh tests)";
  EXPECT_TRUE(board.failed.empty());
  for (const std::string& test : read_names(record)) {
    EXPECT_TRUE(board.passed.contains(test)) << test << " passed before";
  }
}

INSTANTIATE_TEST_SUITE_P(Onnx, HostConformance,
                         testing::Values("node", "pytorch-operator", "pytorch-converted", "simple"),
                         [](const auto& instance) {
                           std::string name = instance.param;
                           std::erase(name, '-');
                           return name;
                         });

}  // namespace
}  // namespace vellum::conformance

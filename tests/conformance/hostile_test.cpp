// ONNX's single-operator tests with attributes and inputs spoilt at random: whatever comes, the host either
// computes something or throws vellum::Error. Worth most under AddressSanitizer and
// UndefinedBehaviorSanitizer.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <random>

#include "graph/graph.hpp"
#include "import/import.hpp"
#include "import/onnx/schema.hpp"
#include "node_test.hpp"
#include "vellum/error.hpp"

namespace vellum::conformance {
namespace {

using Random = std::mt19937;

size_t below(Random& random, size_t bound) {
  return std::uniform_int_distribution<size_t>(0, bound - 1)(random);
}

// Values at which size arithmetic breaks; small ones too, so that some cases get further than the first
// check.
int64_t hostile_integer(Random& random) {
  constexpr int64_t values[] = {-3, -2, -1, 0, 1, 2, 3, 5, int64_t{1} << 40, INT64_MAX, INT64_MIN};
  return values[below(random, std::size(values))];
}

float hostile_float(Random& random) {
  constexpr float values[] = {-1e30f, -1.0f, 0.0f, 0.3f, 1.0f, 2.5f, 1e30f, INFINITY, NAN};
  return values[below(random, std::size(values))];
}

void spoil_attributes(onnx::schema::ModelProto& model, Random& random) {
  auto& nodes = *model.mutable_graph()->mutable_node();
  if (nodes.empty()) return;
  auto& node = nodes[static_cast<int>(below(random, static_cast<size_t>(nodes.size())))];
  if (node.attribute().empty()) return;
  auto& attribute =
      *node.mutable_attribute(static_cast<int>(below(random, static_cast<size_t>(node.attribute_size()))));
  if (attribute.has_i()) attribute.set_i(hostile_integer(random));
  if (attribute.has_f()) attribute.set_f(hostile_float(random));
  if (attribute.ints_size() > 0) {
    attribute.set_ints(static_cast<int>(below(random, static_cast<size_t>(attribute.ints_size()))),
                       hostile_integer(random));
    if (below(random, 4) == 0) attribute.add_ints(hostile_integer(random));
  }
}

HostTensor spoilt_values(const HostTensor& tensor, Random& random) {
  std::vector<int64_t> values = tensor.to_ints();
  if (values.empty()) return tensor;
  values[below(random, values.size())] = hostile_integer(random);
  return HostTensor::from<int64_t>(tensor.dtype(), tensor.shape(), values);
}

HostTensor spoilt_shape(const HostTensor& tensor, Random& random) {
  Shape shape = tensor.shape();
  if (shape.empty() || below(random, 3) == 0) {
    shape.insert(shape.begin(), 1);
  } else if (below(random, 3) == 0) {
    shape.pop_back();
  } else {
    shape[below(random, shape.size())] = static_cast<int64_t>(below(random, 5));
  }
  return HostTensor(tensor.dtype(), shape);
}

HostTensor spoilt(const HostTensor& tensor, Random& random) {
  switch (below(random, 4)) {
    case 0:
      return tensor.dtype() == DType::i64 || tensor.dtype() == DType::i32 ? spoilt_values(tensor, random)
                                                                          : tensor;
    case 1:
      return spoilt_shape(tensor, random);
    case 2:
      return cast(tensor, below(random, 2) == 0 ? DType::f32 : DType::i64);
    default:
      return tensor;
  }
}

// Any kind of input is let in: the operators have to look for themselves.
void forget_input_types(Graph& graph) {
  for (const ValueId id : graph.inputs) graph.values[id].type_known = false;
}

void run_spoilt(const NodeTest& test, const std::string& model_bytes, Random& random) {
  onnx::schema::ModelProto model;
  if (!model.ParseFromString(model_bytes)) return;
  if (below(random, 2) == 0) spoil_attributes(model, random);
  const std::string bytes = model.SerializeAsString();
  Graph graph = import_onnx(std::as_bytes(std::span(bytes)));
  forget_input_types(graph);
  auto inputs = read_tensors(test, 0, "input");
  for (HostTensor& input : inputs) input = spoilt(input, random);
  evaluate(graph, inputs);
}

TEST(HostileInput, IsComputedOrRefusedButNeverCrashes) {
  const char* chosen_seed = std::getenv("VELLUM_TEST_SEED");
  const unsigned seed =
      chosen_seed != nullptr ? static_cast<unsigned>(std::atoi(chosen_seed)) : std::random_device{}();
  std::cout << "VELLUM_TEST_SEED=" << seed << '\n';
  const auto tests = find_tests(test_data_root() / "node");
  ASSERT_FALSE(tests.empty()) << "install libonnx-testdata (./setup.sh tests)";
  size_t computed = 0, refused = 0;
  for (const NodeTest& test : tests) {
    std::ifstream stream(test.folder / "model.onnx", std::ios::binary);
    const std::string bytes((std::istreambuf_iterator<char>(stream)), std::istreambuf_iterator<char>());
    Random random(seed);
    for (int round = 0; round < 20; ++round) {
      try {
        run_spoilt(test, bytes, random);
        ++computed;
      } catch (const Error& error) {
        // A mistake of ours that a check in the library caught.
        EXPECT_NE(error.code(), ErrorCode::internal) << test.name << ": " << error.what();
        ++refused;
      }
    }
  }
  EXPECT_GT(computed, 0u);
  EXPECT_GT(refused, 0u);
}

}  // namespace
}  // namespace vellum::conformance

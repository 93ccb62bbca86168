// Quantised operators of random shapes and scales have the integers of LiteRT's reference kernels, on the
// host and on devices. tests/oracles/quantised_operators.py --sample tests/data/tflite wrote the file, its
// inputs and its outputs (ai-edge-litert 2.3.0), and compares more operators.
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "exec/executor.hpp"
#include "import/import.hpp"
#include "kernels/framework/lowering.hpp"
#include "passes/passes.hpp"
#include "support/gpu_test.hpp"
#include "support/onnx_builder.hpp"

namespace vellum::test {
namespace litert_integers_test {

std::string read_file(const std::string& name) {
  const char* source = std::getenv("VELLUM_TEST_SOURCE");
  if (source == nullptr) return {};
  std::ifstream stream(std::filesystem::path(source) / "data/tflite" / name, std::ios::binary);
  return {std::istreambuf_iterator<char>(stream), {}};
}

// The file's tensors, inputs before outputs, each element with the least significant byte first.
class StoredTensors {
 public:
  explicit StoredTensors(std::string bytes) : bytes_(std::move(bytes)) {}
  HostTensor next(const TensorType& type) {
    std::vector<int64_t> values;
    const size_t size = size_of(type.dtype);
    for (int64_t i = 0; i < element_count(type.shape) && next_ + size <= bytes_.size(); ++i) {
      uint64_t bits = 0;
      for (size_t k = 0; k < size; ++k)
        bits |= uint64_t{static_cast<uint8_t>(bytes_[next_++])} << (64 - 8 * size + 8 * k);
      const bool is_unsigned = type.dtype == DType::u8 || type.dtype == DType::boolean;
      const auto shift = static_cast<int>(64 - 8 * size);
      values.push_back(is_unsigned ? static_cast<int64_t>(bits >> shift)
                                   : static_cast<int64_t>(bits) >> shift);
    }
    return HostTensor::from<int64_t>(type.dtype, type.shape, values);
  }
  bool at_end() const { return next_ == bytes_.size(); }

 private:
  std::string bytes_;
  size_t next_ = 0;
};

struct Sample {
  Graph graph;
  std::vector<HostTensor> inputs, outputs;
};

enum class Passes : bool { none, all };

Graph read_graph(Passes passes) {
  Graph graph = import_model(as_bytes(read_file("quantised_operators.tflite")));
  if (passes == Passes::all) return optimise(std::move(graph), {});
  infer_shapes_and_fold(graph, {});
  return graph;
}

Sample read_sample(Passes passes = Passes::all) {
  Sample sample{read_graph(passes), {}, {}};
  StoredTensors stored(read_file("quantised_operators.bytes"));
  const auto types = [&](const std::vector<ValueId>& values, std::vector<HostTensor>& tensors) {
    for (const ValueId value : values) tensors.push_back(stored.next(sample.graph.values[value].type));
  };
  types(sample.graph.inputs, sample.inputs);
  types(sample.graph.outputs, sample.outputs);
  EXPECT_TRUE(stored.at_end());
  EXPECT_GE(sample.outputs.size(), 30u);
  return sample;
}

// The operators that are not computed in fixed point may be a step off.
bool is_in_floats(const Sample& sample, size_t output) {
  const std::string& name = sample.graph.values[sample.graph.outputs[output]].name;
  return name.ends_with("_in_floats");
}

void expect_integers(const Sample& sample, size_t output, const HostTensor& got) {
  const std::vector<int64_t> want = sample.outputs[output].to_ints(), have = got.to_ints();
  const int64_t most = is_in_floats(sample, output) ? 1 : 0;
  ASSERT_EQ(want.size(), have.size());
  for (size_t i = 0; i < want.size(); ++i)
    ASSERT_LE(std::abs(want[i] - have[i]), most) << sample.graph.values[sample.graph.outputs[output]].name
                                                 << " element " << i << ": " << have[i] << " for " << want[i];
}

void expect_integers_on_host(const Sample& sample) {
  const std::vector<HostTensor> got = evaluate(sample.graph, sample.inputs);
  for (size_t i = 0; i < got.size(); ++i) expect_integers(sample, i, got[i]);
}

TEST(LiteRtIntegers, OnTheHost) { expect_integers_on_host(read_sample()); }

// A pass must not be what makes integers of floats: each can be switched off.
TEST(LiteRtIntegers, OnTheHostWithoutPasses) { expect_integers_on_host(read_sample(Passes::none)); }

TEST(LiteRtIntegers, InEveryStorage) {
  const Sample sample = read_sample();
  for (const StorageChoice storage : {StorageChoice::image2d, StorageChoice::buffer}) {
    Executor executor(
        test_context(),
        compile_program(test_context(), lower(sample.graph, test_context()->caps(), {.storage = storage})));
    for (size_t i = 0; i < sample.inputs.size(); ++i) executor.set_input(i, sample.inputs[i]);
    executor.run();
    for (size_t i = 0; i < sample.outputs.size(); ++i) expect_integers(sample, i, executor.output(i));
  }
}

}  // namespace litert_integers_test
}  // namespace vellum::test

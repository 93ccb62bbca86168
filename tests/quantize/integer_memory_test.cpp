// A network in 8 bits takes little more than a quarter of the memory of the network in floats on every
// device: weights at most 28% and intermediates at most 27%, whichever kernels the device prefers. Two cases
// have wider bounds, with the reason.
#include <gtest/gtest.h>

#include <filesystem>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "compile/compile.hpp"
#include "compile/networks.hpp"
#include "compile/scoreboard_devices.hpp"
#include "import/import.hpp"
#include "quantize/insert.hpp"
#include "quantize/layers.hpp"
#include "support/environment.hpp"
#include "support/fetched_model.hpp"

namespace vellum::quantization {
namespace {

namespace fs = std::filesystem;
using test::fetched_model;
using test::scoreboard_devices;
using test::sources;
using test::text_of;

struct Network {
  std::string name;
  std::function<Graph()> graph;  // null: a file that the tests fetch
  std::string file = {};
  // A device on which the integers' tensors are some in images and some in buffers, which share no memory: in
  // buffers 1x1 convolutions of bytes are predicted to be quicker, those of floats are not.
  std::string mixes_storages = {};
  double most_intermediates = 0.27;
};

void PrintTo(const Network& network, std::ostream* out) { *out << network.name; }

// The scoreboard's devices and every caps file.
std::vector<std::pair<std::string, DeviceCaps>> devices() {
  std::vector<std::pair<std::string, DeviceCaps>> list = scoreboard_devices();
  for (const fs::directory_entry& entry : fs::directory_iterator(sources().parent_path() / "caps"))
    if (entry.path().extension() == ".json")
      list.emplace_back(entry.path().filename().string(),
                        caps_from_json(text_of(entry.path()), entry.path().string()));
  return list;
}

// Integers of one range for all tensors, as `--precision int8` has them.
Graph in_integers(const Graph& floats) {
  Assignment assignment;
  for (const ValueId id : rounded_values(floats, {}).values)
    assignment.parameters[id] = parameters_of({-1.0f, 1.0f}, false);
  return quantized_graph(floats, assignment);
}

struct Memory {
  double weights = 0, intermediates = 0;
};

Memory memory_of(const Graph& prepared, const DeviceCaps& caps) {
  const CompiledModel compiled = compile_prepared(prepared, caps, {}, Stage::plan);
  Memory memory{.intermediates = static_cast<double>(compiled.plan.planned_bytes)};
  for (const VirtualTensor& tensor : compiled.program.tensors)
    if (tensor.role == TensorRole::weight) memory.weights += static_cast<double>(tensor.desc.byte_size());
  return memory;
}

class IntegerMemory : public testing::TestWithParam<Network> {};

TEST_P(IntegerMemory, IsAQuarterOnEveryDevice) {
  const Network& network = GetParam();
  const fs::path file = fetched_model("objects_ssd").model().parent_path() / network.file;
  if (!network.graph && !fs::exists(file)) GTEST_SKIP() << file << " is not there";
  const Graph floats = float_graph(network.graph ? network.graph() : import_model(file), {});
  const Graph of_floats = prepare_graph(floats, DeviceCaps{}, {}),
              of_integers = prepare_graph(in_integers(floats), DeviceCaps{}, {});
  // To plan for a large network takes seconds on each device: on a commit every fourth is asked.
  const size_t every = test::in_full() || network.file.empty() ? 1 : 4;
  size_t number = 0;
  for (const auto& [name, caps] : devices()) {
    if (number++ % every != 0 && name != network.mixes_storages) continue;
    const Memory before = memory_of(of_floats, caps), after = memory_of(of_integers, caps);
    EXPECT_LE(after.weights, 0.28 * before.weights)
        << name << ": " << after.weights / before.weights << " of the weights";
    EXPECT_LE(after.intermediates,
              (name == network.mixes_storages ? 0.33 : network.most_intermediates) * before.intermediates)
        << name << ": " << after.intermediates / before.intermediates << " of the intermediates";
  }
}

INSTANTIATE_TEST_SUITE_P(
    All, IntegerMemory,
    testing::Values(Network{"mobilenet_v2", [] { return test::mobilenet_v2(); }},
                    // One dispatch joins the five branches, which all live until then. Floats of some GPUs
                    // need more elsewhere.
                    Network{.name = "deeplab", .graph = test::deeplab, .most_intermediates = 0.275},
                    Network{"efficientnet_lite0", nullptr, "efficientnet_lite0.onnx", "a660"},
                    Network{"objects_ssd", nullptr, "object_detection_ssd_mobilenetv2_oidv4_fp16.tflite"}),
    [](const auto& network) { return network.param.name; });

}  // namespace
}  // namespace vellum::quantization

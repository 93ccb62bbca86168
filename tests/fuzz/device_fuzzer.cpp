// Any bytes as a model that runs on the device, in a configuration drawn from the bytes. What it computes is
// compared with the host in double, where rounding alone can tell the two apart: elsewhere the run only has
// to end well.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <functional>
#include <iostream>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "api/impl.hpp"
#include "differential/drawn_options.hpp"
#include "differential/expected_outputs.hpp"
#include "fuzz/small_model.hpp"
#include "passes/passes.hpp"
#include "support/tensors.hpp"
#include "vellum/error.hpp"
#include "vellum/vellum.hpp"

namespace vellum::test {
namespace {

// A larger number need not fit into the integer that a node makes of it, and a float of its size has few
// digits after the point.
constexpr double kLargest = 1 << 20;

// Integers are small, so that they can be places and sizes.
HostTensor drawn_input(const TensorType& type, uint32_t seed) {
  HostTensor drawn = random_tensor(type.shape, seed);
  if (is_float(type.dtype)) return cast(drawn, type.dtype);
  for (float& value : drawn.mutable_as<float>()) value = std::floor(std::abs(value) * 3);
  return cast(drawn, type.dtype);
}

std::vector<HostTensor> drawn_inputs(const Graph& graph, uint32_t seed) {
  std::vector<HostTensor> inputs;
  for (const ValueId id : graph.inputs) inputs.push_back(drawn_input(graph.values[id].type, seed++));
  return inputs;
}

bool is_moderate(const HostTensor& tensor) {
  return std::ranges::all_of(cast(tensor, DType::f64).as<double>(),
                             [](double value) { return std::abs(value) <= kLargest; });
}

// Whether a node makes integers of numbers that they cannot hold, which each device does in its own way.
bool converts_beyond(const Graph& graph, const Node& node, std::span<const HostTensor> values) {
  if (node.op->type() != "Cast" || is_float(graph.values[node.outputs[0]].type.dtype)) return false;
  const HostTensor from = cast(values[node.inputs[0]], DType::f64),
                   to = cast(values[node.outputs[0]], DType::f64);
  return !std::ranges::equal(from.as<double>(), to.as<double>(),
                             [](double a, double b) { return std::abs(a - b) < 1; });
}

// Whether each value that the host computes is a number of moderate size: then results have a bound of error.
// Graphs whose nodes draw random numbers have none.
bool has_bound(const Graph& graph, std::span<const HostTensor> inputs) {
  std::vector<HostTensor> values(graph.values.size());
  Graph all = graph;
  std::vector<ValueId>& computed = all.outputs;
  computed.clear();
  for (const Node& node : graph.nodes) {
    if (node.op->type().find("Random") != std::string_view::npos || node.op->type() == "Bernoulli" ||
        node.op->type() == "Multinomial" || node.op->type() == "Dropout")
      return false;
    for (const ValueId id : node.outputs)
      if (id != kNoValue) computed.push_back(id);
  }
  const std::vector<HostTensor> results = evaluate(all, inputs);
  for (size_t i = 0; i < computed.size(); ++i) values[computed[i]] = results[i];
  for (size_t i = 0; i < inputs.size(); ++i) values[graph.inputs[i]] = inputs[i];
  for (size_t i = 0; i < values.size(); ++i)
    if (graph.values[i].constant) values[i] = *graph.values[i].constant;
  if (!std::ranges::all_of(values, is_moderate)) return false;
  return std::ranges::none_of(graph.nodes,
                              [&](const Node& node) { return converts_beyond(graph, node, values); });
}

// Printed at the end: a target that compares nothing finds nothing.
struct Counts {
  ~Counts() {
    std::cerr << tried << " models were given to a session, results of " << compared << " compared\n";
  }
  uint64_t tried = 0, compared = 0;
};
Counts counts;

Device open_device() {
  DeviceOptions options;
  options.log = nullptr;
  options.cache_folder.clear();
  options.validation = std::getenv("VELLUM_FUZZ_VALIDATION") != nullptr;
  return Device::open(options);
}

// Opened anew now and then: a device keeps its pipelines, and the memory of a fuzz target has a limit. The
// last one stays open: when static objects are destroyed, the driver may be gone.
const Device& device() {
  constexpr uint64_t kMostModels = 300;
  static auto* const opened = new std::optional<Device>;
  if (!*opened || counts.tried % kMostModels == 0) *opened = open_device();
  return **opened;
}

[[noreturn]] void fail(const std::string& what) {
  std::cerr << what << "\n";
  std::abort();
}

void run_and_compare(const Model& model, uint32_t seed) {
  Graph graph = impl(model)->graph;
  infer_shapes_and_fold(graph, {});
  if (!is_cheap(graph)) return;
  const std::vector<HostTensor> inputs = drawn_inputs(graph, seed);
  NamedTensors named;
  for (size_t i = 0; i < inputs.size(); ++i) named[graph.values[graph.inputs[i]].name] = inputs[i];
  const SessionOptions options = drawn_options(seed, false);
  const Device on = device();
  ++counts.tried;
  Session session(on, model, options);
  const NamedTensors outputs = session.run(named);
  if (on.validation_messages() > 0) fail("the validation layer complains");
  try {
    if (!has_bound(graph, inputs)) return;
    const bool halves =
        std::ranges::any_of(graph.values, [](const Value& value) { return value.type.dtype == DType::f16; });
    const std::string difference =
        ExpectedOutputs(graph, inputs).difference(outputs, halves ? Rounding::fp16 : Rounding::fp32);
    ++counts.compared;
    if (!difference.empty()) fail(difference + "; " + describe(options));
  } catch (const Error&) {
    // The reference in double has no such operator.
  }
}

}  // namespace
}  // namespace vellum::test

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const auto seed = static_cast<uint32_t>(
      std::hash<std::string_view>()({static_cast<const char*>(static_cast<const void*>(data)), size}));
  try {
    vellum::test::run_and_compare(
        vellum::Model::load(std::as_bytes(std::span(data, size)), vellum::test::small_limits()), seed);
  } catch (const vellum::Error& error) {
    if (error.code() == vellum::ErrorCode::internal)
      vellum::test::fail(std::string("an internal error: ") + error.what());
  }
  return 0;
}

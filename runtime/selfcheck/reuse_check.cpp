#include "selfcheck/reuse_check.hpp"

#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "compile/compile.hpp"
#include "exec/device_tensors.hpp"
#include "exec/executor.hpp"
#include "exec/host_values.hpp"
#include "graph/graph.hpp"
#include "graph/node_spec.hpp"
#include "graph/operator.hpp"
#include "selfcheck/small_run.hpp"
#include "vellum/error.hpp"

namespace vellum {
namespace {

constexpr int kChainLength = 24;
constexpr int64_t kChainChannels = 8, kChainSide = 12;

HostTensor chain_values(Shape shape, uint32_t seed, float scale) {
  HostTensor tensor(DType::f32, std::move(shape));
  uint32_t state = seed;
  for (float& value : tensor.mutable_as<float>()) {
    state = state * 1664525u + 1013904223u;
    value = scale * (static_cast<float>(state >> 8) / static_cast<float>(1u << 23) - 1.0f);
  }
  return tensor;
}

ValueId append(Graph& graph, const std::string& type, std::vector<ValueId> inputs,
               const Attributes& attributes) {
  const ValueId output = graph.add_value(type + std::to_string(graph.nodes.size()));
  selfcheck::append_node(graph, type, std::move(inputs), attributes, output);
  return output;
}

// Convolutions of 3x3; every third adds the value two before it, which so lives longer.
Graph chain() {
  Graph graph;
  const TensorType type{DType::f32, {1, kChainChannels, kChainSide, kChainSide}};
  graph.inputs = {graph.add_value("x", type, true)};
  Attributes pads;
  pads.set("pads", std::vector<int64_t>{1, 1, 1, 1});
  std::vector<ValueId> values{graph.inputs.front()};
  for (int i = 0; i < kChainLength; ++i) {
    constexpr float kScale = 0.2f;  // keeps the magnitude from layer to layer
    const ValueId weights = graph.add_constant(
        "w" + std::to_string(i),
        chain_values({kChainChannels, kChainChannels, 3, 3}, static_cast<uint32_t>(i + 1), kScale));
    ValueId value = append(graph, "Conv", {values.back(), weights}, pads);
    if (i % 3 == 2) value = append(graph, "Add", {value, values[values.size() - 2]}, {});
    values.push_back(value);
  }
  graph.outputs = {values.back()};
  return graph;
}

struct MemoryUseForm {
  MemoryMode mode;
  bool in_place;
};
constexpr MemoryUseForm kOwnMemory{MemoryMode::naive, false};
constexpr MemoryUseForm kSharedForms[] = {{MemoryMode::shared_objects, true}, {MemoryMode::offsets, true}};

CompileOptions chain_options(StorageChoice storage, const MemoryUseForm& form) {
  CompileOptions options{.storage = storage};
  options.in_place = form.in_place;
  options.plan.mode = form.mode;
  options.plan.strategy = "greedy_in_order";  // of both modes, and quick
  return options;
}

class ReuseCheck {
 public:
  ReuseCheck(const std::shared_ptr<gpu::Context>& context, const DeviceCaps& caps)
      : context_(context), caps_(caps) {
    for (const uint32_t seed : {7, 8})
      inputs_.push_back(chain_values({1, kChainChannels, kChainSide, kChainSide}, seed, 1.0f));
  }

  bool has_shaders(StorageChoice storage, const HasShaders& has_shaders) const {
    return !has_shaders ||
           has_shaders(compile(chain_, caps_, chain_options(storage, kOwnMemory), Stage::program).program);
  }

  bool passes(StorageChoice storage) {
    const std::vector<HostTensor> expected = run(storage, kOwnMemory);
    for (const MemoryUseForm& form : kSharedForms)
      if (!same(expected, run(storage, form)))
        return !same(expected, run(storage, kOwnMemory));  // then memory is not the reason
    return true;
  }

 private:
  // The results for each input, twice in turn.
  std::vector<HostTensor> run(StorageChoice storage, const MemoryUseForm& form) {
    CompileOptions options = chain_options(storage, form);
    options.memory_rules = device_rules(context_);
    auto model = std::make_shared<const CompiledModel>(compile(chain_, caps_, options));
    std::vector<HostTensor> outputs;
    runs_.run("memory that tensors share", model->program, [&] {
      Executor executor(context_, model);
      for (int repetition = 0; repetition < 2; ++repetition)
        for (const HostTensor& input : inputs_) {
          executor.set_input(0, input);
          executor.run();
          outputs.push_back(executor.output(0));
        }
    });
    return outputs;
  }

  static bool same(const std::vector<HostTensor>& a, const std::vector<HostTensor>& b) {
    for (size_t i = 0; i < a.size(); ++i)
      if (!have_same_bits(a[i], b[i])) return false;
    return true;
  }

  const std::shared_ptr<gpu::Context>& context_;
  const DeviceCaps& caps_;
  const Graph chain_ = chain();
  std::vector<HostTensor> inputs_;
  MarkedRuns runs_{context_, 1};
};

}  // namespace

std::optional<bool> memory_reuse_is_safe(const std::shared_ptr<gpu::Context>& context, const DeviceCaps& caps,
                                         const HasShaders& has_shaders) {
  ReuseCheck check(context, caps);
  bool is_tried = !has_shaders;
  for (const StorageChoice storage : {StorageChoice::buffer, StorageChoice::image2d}) {
    try {
      if (!check.has_shaders(storage, has_shaders)) continue;
      is_tried = true;
      if (!check.passes(storage)) return false;
    } catch (const Error& error) {
      if (error.code() == ErrorCode::device_lost) throw;
    }
  }
  return is_tried ? std::optional(true) : std::nullopt;
}

std::vector<Program> reuse_check_programs(const DeviceCaps& caps, bool images) {
  const Graph graph = chain();
  std::vector<Program> programs;
  for (const StorageChoice storage : {StorageChoice::buffer, StorageChoice::image2d}) {
    if (storage == StorageChoice::image2d && !images) continue;
    try {
      programs.push_back(compile(graph, caps, chain_options(storage, kOwnMemory), Stage::program).program);
    } catch (const Error&) {
      // The device cannot compute the chain so, and its check does not try it.
    }
  }
  return programs;
}

}  // namespace vellum

// Compiles a model: imported graph -> optimised graph -> program -> memory plan -> barriers. Needs no device.
// Start reading here for compilation.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "caps/device_caps.hpp"
#include "graph/graph.hpp"
#include "kernels/framework/choice.hpp"
#include "kernels/framework/kernel_id.hpp"
#include "passes/passes.hpp"
#include "passes/tile/strips.hpp"
#include "plan/arrange.hpp"
#include "plan/memory_plan.hpp"
#include "plan/synchronisation.hpp"
#include "platform/progress.hpp"
#include "program/program.hpp"
#include "vellum/options.hpp"

namespace vellum {

// The stages in order. Each one needs the stages before it.
enum class Stage : uint8_t { graph, program, plan, barriers };
std::string_view name(Stage stage);
// Throws Error(invalid_argument) for an unknown name.
Stage stage_from_name(std::string_view name);

// Everything besides the graph and the device's capabilities that decides what is compiled.
struct CompileOptions {
  InputShapes input_shapes;
  InputTensors input_values;  // of inputs that decide shapes
  std::string state;          // SessionOptions::state, with tensor names
  StatePrecision state_precision = StatePrecision::automatic;
  std::vector<std::string> disabled_passes;
  // Bytes of weights on the device at one time: larger layers are split. 0: no limit.
  uint64_t weights_budget = 0;
  // Nodes of the prepared graph that run in strips (passes/tile), of the same input shapes and precision.
  Tiling tiling;
  Precision precision = Precision::fp32;
  Arithmetic arithmetic = Arithmetic::fp32;
  StorageChoice storage = StorageChoice::automatic;
  Winograd winograd = Winograd::automatic;
  std::shared_ptr<const TuningTable> tuning;  // measurements of the device; null: the cost model decides
  std::shared_ptr<const WrongKernels> wrong_kernels;   // of the device, to be avoided; null: none is known
  WrongNodes wrong_nodes = WrongNodes::other_kernels;  // LoweringOptions'
  bool in_place = true, views = true, reorder = true;  // ArrangeOptions; the mode is that of `plan`
  bool row_texels = true;  // whether kernels of linear tensors may access images (plan/row_texels.hpp)
  // Whether one kernel may compute several layers (fuse()). The order of sums in a fused kernel depends on
  // the sizes of images.
  bool fuse_layers = true;
  // Whether regions of layers on the host run on the device, in memory that no budget counts.
  bool device_regions = true;
  bool host_fallback = true;  // false: a program that needs the host is Error(unsupported)
  PlanMemoryOptions plan;
  // The device's requirements for images and buffers. Empty `need`: they are modelled from the caps.
  MemoryRules memory_rules;
  // Checked between the stages: compilation ends with Error(cancelled) if it was cancelled. May be null.
  const Progress* progress = nullptr;
};

// The result of compilation, which executors run. Executors of several runs in flight share one.
struct CompiledModel {
  // The graph that was lowered: optimised, with large layers split, and in strips. Empty if compilation began
  // with a program.
  Graph graph;
  Program program;
  MemoryPlan plan;
  std::vector<TaskSync> barriers;  // one per task
};

// Compiles up to and including stage `last`. The results of later stages stay empty.
CompiledModel compile(const Graph& imported, const DeviceCaps& caps, const CompileOptions& options,
                      Stage last = Stage::barriers);

// Runs the first stage alone: infers all shapes, runs all passes, and splits layers that are too large for
// the device or for the weights budget.
Graph prepare_graph(const Graph& imported, const DeviceCaps& caps, const CompileOptions& options);
// Splits the layers of a prepared graph that are too large for options.weights_budget.
Graph split_for_budget(Graph prepared, const DeviceCaps& caps, const CompileOptions& options);
// Runs the stages after prepare_graph(). compile() calls both; with separate calls one prepared graph can be
// compiled several times.
CompiledModel compile_prepared(Graph graph, const DeviceCaps& caps, const CompileOptions& options,
                               Stage last = Stage::barriers);
struct PredictedTiling {
  Tiling nodes;
  double predicted_ms = 0;  // of its program's dispatches, without barriers: a lower bound for a run
};

// Returns tilings of a prepared graph in ascending order of predicted time. They are the quickest ones within
// several decreasing limits on the live bytes of intermediate tensors: for each limit one that may keep rows
// from strip to strip, and one that keeps none. Empty if no layers can run in strips.
std::vector<PredictedTiling> tilings(const Graph& prepared, const DeviceCaps& caps,
                                     const CompileOptions& options);

// Runs the stages `plan` and `barriers` for a program that was not made by compile().
CompiledModel compile_program(Program program, const PlanMemoryOptions& options, const MemoryRules& rules);

std::string to_text(const CompiledModel& model, Stage stage);

}  // namespace vellum

// Options of a session: memory, precision and runs.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "vellum/memory_pool.hpp"
#include "vellum/model.hpp"
#include "vellum/options.hpp"

namespace vellum {

// How intermediate tensors are assigned to memory. The defaults are right for almost everyone.
struct PlanningOptions {
  std::string strategy = "best";  // of the planner, see docs/planner.md
  // Time limit in milliseconds for the strategies `best` and `exact` to search for a smaller plan; 0: no
  // search.
  uint32_t search_ms = 100;
  // Three ways to need less memory. Each is used only where the plan does not grow by it, and never in mode
  // naive. None changes a bit of the results.
  bool in_place = true;  // elementwise operators may overwrite an input that nothing reads afterwards
  bool views = true;     // concatenations and splits of buffers need no copy
  bool reorder = true;   // tasks may run in another order than the model's
};

// For finding faults.
struct DebugOptions {
  // Graph passes to leave out, of graph_passes(): to compare, or to avoid a faulty one.
  std::vector<std::string> disabled_passes;
};

struct SessionOptions {
  Precision precision = Precision::fp32;
  // Arithmetic::fp16: Error(invalid_argument) with another precision than fp16, Error(unsupported) if the
  // device has no fp16 arithmetic.
  Arithmetic arithmetic = Arithmetic::fp32;
  StorageChoice storage = StorageChoice::automatic;
  MemoryMode memory = MemoryMode::shared_objects;
  // Shapes of inputs that the model leaves open, or another batch. A session whose input shapes are all known
  // is made ready when it is created, any other at the first run, with the shapes of the inputs that were
  // set.
  InputShapes input_shapes;
  // Values of inputs that decide shapes, at most 64 each; their shapes need not be given besides. A session
  // that lacks one is made ready at the first run, with the values that were set. Estimates, plans and
  // bundles need all of them. The session keeps them until others are set. Error(invalid_argument) for an
  // input that decides no shape.
  InputTensors input_values;
  // Memory for the intermediate tensors that other sessions use, too. Not valid(): the session has its own.
  MemoryPool memory_pool;
  // How many combinations of input shapes, and of values that decide shapes, a session stays ready for, at
  // least 1; the least recently used is freed first. Each has its own inputs, outputs and commands; weights,
  // and the memory of intermediate tensors, are shared. Shapes that need more of this memory than there is
  // replace it, and the next run with other shapes records its commands again.
  uint32_t cached_shapes = 4;
  // 0: no limit. N: a submit ends after N tasks (1: layer by layer).
  uint32_t tasks_per_submit = 0;
  // The most milliseconds of work, by prediction, that a run hands to the device at a time; 0: no limit. A
  // run that takes longer is divided into submits of at most half of that, so that the device has the next
  // one: other work of the device, of the same queue too, waits no longer for this run, cancel() stops the
  // rest, and no watchdog of the driver ends it. run(), wait(), wait_for(), done() and try_submit() hand over
  // the next submits when the device has done earlier ones; while none is called the device does nothing more
  // of this run. With semaphores of the application all submits are handed over at once. A single dispatch is
  // not divided. Predictions are those of `vellum inspect --stage kernels`, for an unknown GPU those of a
  // common one. The results are the same bit for bit.
  //
  // Nothing: 16 on GPUs with a queue for graphics, which may serve a display; 0 on others and on CPUs.
  std::optional<uint32_t> max_submit_ms;
  // Bytes of device memory for weights; 0: no budget. With a budget the weights stay in host memory, mapped
  // from the model file or from files that are written once to the device's cache folder. They stream to the
  // device layer by layer while earlier layers run; the results are the same bit for bit. The session shares
  // its weights with no other session. Layers larger than the budget are split, or refused with
  // Error(out_of_memory). Executors for an input shape that does not fit beside the others replace them.
  uint64_t weights_budget = 0;
  // Bytes of device memory for everything that the session allocates from Vulkan: weights, intermediate
  // tensors, workspace, inputs, outputs of all runs in flight, and staging; 0: no budget. It is never
  // exceeded. If what the other options ask for takes more, the session finds the way to fit that should be
  // quickest: other memory modes and storages, without Winograd and tuned kernels, weights that stream as
  // with weights_budget (docs/memory.md). Results are the same bit for bit, unless Winograd, tuned kernels or
  // images of the device's choice were given up. Throws Error(out_of_memory), with the smallest budget that
  // suffices, if nothing fits. The session shares its weights with no other session and stays ready for one
  // combination of input shapes. Error(invalid_argument) with a weights_budget or a memory_pool. Memory of
  // the driver, such as that of pipelines, is not counted.
  uint64_t memory_budget = 0;
  // With a memory_budget, Precision::fp16 is one more way to fit, where fp32 does not fit without streaming
  // weights.
  bool budget_allows_fp16 = false;
  // Trades memory for speed in 3x3 convolutions. Off with a weights_budget.
  Winograd winograd = Winograd::automatic;
  // Use what tune() (vellum/tune.hpp) measured on the device: it decides which kernel computes each operator
  // and, with StorageChoice::automatic, the storage of each tensor. False: the cost model decides alone, as
  // it does where nothing was measured, and with a weights_budget.
  bool tuned = true;
  // How many runs submit() keeps in flight at the same time. Each has its own inputs, outputs, intermediate
  // tensors and commands, which are allocated when the session is made ready; weights and pipelines are
  // shared. At most 64, and 1 with a weights_budget.
  uint32_t in_flight = 1;
  // Check inputs and outputs of floats for NaN and infinities: Error(invalid_argument) that names the first
  // one. Without it they follow IEEE 754 as far as the device does: Vulkan lets drivers assume that there are
  // none, so that a NaN may give any number (docs/using.md).
  bool check_finite = false;
  // GPU timestamps around every task, for layer_times().
  bool profile = false;
  PlanningOptions planning;
  DebugOptions debug;
};

}  // namespace vellum

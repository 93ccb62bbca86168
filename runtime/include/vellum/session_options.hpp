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
  std::string strategy = "best";  // a strategy of the planner, see docs/planner.md
  // Milliseconds that the strategies `best` and `exact` may search for a smaller plan. 0: no search.
  uint32_t search_ms = 100;
  // Three rewrites that reduce memory. Each is applied only where the plan does not grow, and never in mode
  // naive. Results are the same bit for bit.
  bool in_place = true;  // elementwise operators may overwrite an input that nothing reads afterwards
  bool views = true;     // concatenations and splits of buffers need no copy
  bool reorder = true;   // tasks may run in another order than the model's
};

// Options for finding faults.
struct DebugOptions {
  // Names of graph_passes() to skip, for comparison or to avoid a faulty pass.
  std::vector<std::string> disabled_passes;
};

struct SessionOptions {
  Precision precision = Precision::fp32;
  // Arithmetic::fp16 is Error(invalid_argument) with Precision::fp32, and Error(unsupported) on a device
  // without fp16 arithmetic.
  Arithmetic arithmetic = Arithmetic::fp32;
  StorageChoice storage = StorageChoice::automatic;
  MemoryMode memory = MemoryMode::shared_objects;
  // Shapes of inputs that the model leaves open, or another batch. If all input shapes are known, the session
  // is prepared when it is created; otherwise at the first run, for the shapes of the inputs that were set.
  InputShapes input_shapes;
  // Values of inputs that decide shapes, at most 64 elements each. They need no entry in input_shapes. If the
  // values of such an input are missing, the session is prepared at the first run, for the values that were
  // set; estimates, plans and bundles need all of them. The session keeps the values until others are set.
  // Error(invalid_argument) for an input that decides no shapes.
  InputTensors input_values;
  // Inputs that stay on the device as state of the session: a run reads an input and leaves the value of an
  // output in it for the next run (Session::states()). "INPUT=OUTPUT;INPUT=OUTPUT" lists pairs, which must
  // have equal types and shapes (but see state_capacity). "auto": the pairs that the names show
  // (past_key_values.0.key and present.0.key, h_in and h_out, a TFLite variable NAME and NAME.next). Empty:
  // none. The shape of a state is that of the first shapes that the session is prepared for. Not with
  // in_flight above 1, because each run needs the state of the run before.
  std::string state;
  // The maximum number of tokens in states that grow. The output of such a state is a concatenation of the
  // state and new tokens, as exporters write the keys and values of a decoder. The number of tokens in these
  // states is one more state, "cache_length". Inputs that count all tokens (attention_mask) have the length
  // state_capacity, with zeros after the last token. 0: such states are refused.
  uint32_t state_capacity = 0;
  // The precision of caches of keys and values, which new tokens are written into and attention alone reads.
  // With StatePrecision::int8 state() and set_state() convert from and to floats. Other states keep their
  // precision. Error(unsupported), which names the node, if another operator reads a cache;
  // Error(invalid_argument) if no state is a cache.
  StatePrecision state_precision = StatePrecision::automatic;
  // Memory for intermediate tensors that several sessions share. Not valid(): the session allocates its own.
  MemoryPool memory_pool;
  // Number of combinations of input shapes and of values that decide shapes for which a session stays
  // prepared, at least 1. The least recently used combination is freed first. Each has its own inputs,
  // outputs and commands; they share the weights and the memory of intermediate tensors. If a combination
  // needs more of this memory, the memory is replaced, and the next run of each other combination records its
  // commands again.
  uint32_t cached_shapes = 4;
  // 0: no limit. N: a submit ends after N tasks (1: layer by layer).
  uint32_t tasks_per_submit = 0;
  // Predicted milliseconds of a run's work that may be pending on the device at a time; 0: no limit. A run
  // that takes longer is divided into submits of at most half of it, so that the device always has the next
  // one. Other work on the device, also in the same queue, then waits no longer than this for the run;
  // cancel() stops the rest; and no watchdog of the driver ends the run. run(), wait(), wait_for(), done()
  // and try_submit() make the next submits when earlier ones are done. The run makes no progress while none
  // of these is called. With semaphores of the application all submits are made at once. A dispatch that
  // takes longer is divided by its workgroups. `vellum inspect --stage kernels` shows the predictions; an
  // unknown GPU is predicted as a common GPU. After the first two runs measured times replace shorter
  // predictions. Results are the same bit for bit.
  //
  // Empty: 16 on GPUs with a graphics queue, which may serve a display; 0 on other GPUs and on CPUs.
  std::optional<uint32_t> max_submit_ms;
  // Bytes of device memory for weights; 0: no budget. With a budget the weights stay in host memory, mapped
  // from the model file or from files that are written once to the device's cache folder. They stream to the
  // device layer by layer while earlier layers run. Results are the same bit for bit. The session does not
  // share its weights with other sessions. Layers larger than the budget are split, or refused with
  // Error(out_of_memory). If an input shape does not fit beside the shapes prepared before, these are freed.
  uint64_t weights_budget = 0;
  // Bytes of device memory for everything that the session allocates from Vulkan: weights, intermediate
  // tensors, workspace, inputs, outputs of all runs in flight, and staging; 0: no budget. It is never
  // exceeded. If the other options would take more, the session uses the configuration within the budget that
  // is predicted to be fastest: other memory modes and storages, no Winograd, no tuned kernels, streamed
  // weights as with weights_budget (docs/memory.md). Results are the same bit for bit, unless the budget
  // excludes Winograd, tuned kernels or images that the device prefers. If nothing fits, throws
  // Error(out_of_memory), which states the smallest budget that suffices. The session does not share its
  // weights with other sessions, and stays prepared for one combination of input shapes.
  // Error(invalid_argument) with a weights_budget or a memory_pool. Memory of the driver, such as that of
  // pipelines, is not counted.
  uint64_t memory_budget = 0;
  // With a memory_budget: allows Precision::fp16 where it is predicted to be faster than all that fits in
  // fp32.
  bool budget_allows_fp16 = false;
  // Winograd convolutions, which trade memory for speed. Off with a weights_budget.
  Winograd winograd = Winograd::automatic;
  // Use the measurements of tune() (vellum/tune.hpp) on this device to choose the kernel of each operator
  // and, with StorageChoice::automatic, the storage of each tensor. False: the cost model chooses, as it does
  // where nothing was measured, and with a weights_budget.
  bool tuned = true;
  // Number of runs that submit() keeps in flight at the same time. Each has its own inputs, outputs,
  // intermediate tensors and commands, which are allocated when the session is prepared; weights and
  // pipelines are shared. At most 64, and 1 with a weights_budget.
  uint32_t in_flight = 1;
  // Check float inputs and outputs for NaN and infinities. The first one found is Error(invalid_argument),
  // which names it. Without the check they follow IEEE 754 only as far as the device does: Vulkan lets
  // drivers assume that there are none, so a NaN may give any number (docs/using.md).
  bool check_finite = false;
  // N: executes the first run and every Nth run after it twice, and compares the bits of the outputs. A
  // difference is Error(internal), which names the output. The repetition finds devices whose results depend
  // on heat, power or chance (docs/using.md). 0: no run is repeated. Not allowed with `state`. Such a session
  // refuses runs that signal a semaphore, and record() and bind().
  uint32_t repeat_every = 0;
  // Whether operators without a kernel may run on the host; Session::warnings() lists them. False: a model
  // with such an operator is Error(unsupported), which names it. Operators whose result has a shape that only
  // a run determines (NonMaxSuppression, NonZero) always need the host, and are Error(unsupported), too.
  bool host_fallback = true;
  // Write GPU timestamps around every task, for layer_times().
  bool profile = false;
  PlanningOptions planning;
  DebugOptions debug;
};

}  // namespace vellum

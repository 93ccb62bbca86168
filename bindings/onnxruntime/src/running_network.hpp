// A part of a model that Vellum runs for the runtime.
#pragma once

#include <list>
#include <memory>
#include <mutex>
#include <optional>
#include <shared_mutex>
#include <string>
#include <utility>
#include <vector>

#include "bindings/plugins/fork_guard.hpp"
#include "bindings/plugins/profile_page.hpp"
#include "bound_runs.hpp"
#include "device_events.hpp"
#include "options.hpp"
#include "runtime_api.hpp"
#include "vellum/vellum.hpp"

namespace vellum::ort {

// Thread-safe. There is a session for each combination of input shapes, and of values that decide shapes, and
// another one while the runtime profiles; the least recently used one is dropped
// (SessionOptions::cached_shapes). They share weights and the memory of intermediate tensors.
class RunningNetwork {
 public:
  // The names of the fused node's inputs and outputs, in its order.
  struct Names {
    std::vector<std::string> inputs, outputs;
  };
  // The device, options, memory and events of all parts of one provider.
  struct Shared {
    Device device;
    ProviderOptions options;
    MemoryPool pool;  // not valid() with a budget
    std::shared_ptr<DeviceEvents> events;
    const OrtLogger* logger = nullptr;  // of the session
  };
  // `number`: the part's number in its model. If all shapes are known, the session is created now.
  RunningNetwork(const Shared& shared, const Model& part, const Names& names, size_t number);

  const Device& device() const { return shared_.device; }
  // Runs once with the inputs and outputs of the context.
  void run(OrtKernelContext& context);

 private:
  struct Prepared {
    Prepared(std::string shapes, Session made, bool measures)
        : key(std::move(shapes)),
          session(std::move(made)),
          outputs(session.outputs()),
          measures_times(measures) {}
    const std::string key;
    Session session;
    const std::vector<TensorInfo> outputs;
    const bool measures_times;
    std::shared_mutex session_mutex;      // shared by submits; exclusive for bound_runs
    std::optional<BoundRuns> bound_runs;  // made with the first device tensor
  };
  struct Input {
    const void* data = nullptr;
    size_t bytes = 0;
    Shape shape;
  };

  std::shared_ptr<Prepared> prepare(const std::vector<Input>& inputs, std::string key, bool measures_times);
  std::shared_ptr<Prepared> prepared_for(const std::vector<Input>& inputs);
  bool run_bound(Prepared& prepared, std::span<const InputValues> inputs,
                 std::span<const OutputValues> outputs);
  void run_measured(Session& session, std::span<const InputValues> inputs,
                    std::span<const OutputValues> outputs, Run& run);
  std::vector<Input> read_inputs(const OrtKernelContext& context) const;

  const plugin::ForkGuard process_;
  const Shared shared_;
  const Model model_;
  std::vector<size_t> input_positions_, output_positions_;  // by the model's inputs and outputs
  const std::string name_;
  plugin::ProfilePage profile_page_;
  std::mutex profile_mutex_;  // held during a run whose times are read: other runs would replace them
  std::mutex mutex_;
  std::list<std::shared_ptr<Prepared>> prepared_;  // the most recently used one first
};

}  // namespace vellum::ort

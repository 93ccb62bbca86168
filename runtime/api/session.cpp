// The public calls of a session.
#include <cstring>
#include <optional>
#include <set>
#include <utility>

#include "api/guard.hpp"
#include "api/impl.hpp"
#include "api/memory_report.hpp"
#include "api/session_impl.hpp"
#include "passes/shapes/shape_inputs.hpp"
#include "vulkan/memory.hpp"
#include "vulkan/memory_budget.hpp"

namespace vellum {

Session::Session(const Device& device, const Model& model, const SessionOptions& options)
    : impl_(guard([&] { return std::make_unique<Impl>(device, model, options); })) {}
Session::Session(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Session::~Session() = default;
Session::Session(Session&&) noexcept = default;
Session& Session::operator=(Session&&) noexcept = default;

Session::Impl& Session::checked() const { return held_by(impl_, "session"); }

const std::vector<TensorInfo>& Session::inputs() const { return checked().inputs; }
const std::vector<TensorInfo>& Session::outputs() const { return checked().outputs; }
const std::vector<std::string>& Session::warnings() const { return checked().warnings; }
size_t Session::dispatch_count() const {
  return checked().is_ready() ? checked().first_executor().dispatch_count() : 0;
}
size_t Session::pipeline_count() const {
  return checked().is_ready() ? checked().first_executor().pipeline_count() : 0;
}
size_t Session::barrier_count() const {
  return checked().is_ready() ? checked().first_executor().barrier_count() : 0;
}

void Session::prepare(const InputShapes& shapes) {
  guard([&] {
    const SessionUses::Exclusive use(checked().uses);
    const InputShapes of_tensors = by_tensor_name(checked().inputs, shapes);
    check_input_shapes(impl(checked().model)->graph, of_tensors);
    InputKey wanted = checked().wanted_key();
    for (const auto& [name, shape] : of_tensors) {
      const size_t index = position(checked().inputs, name, "input");
      if (const auto values = wanted.values.find(index);
          values != wanted.values.end() && values->second.shape() != shape)
        throw Error(
            ErrorCode::invalid_argument,
            "the values of input '" + name + "' decide shapes: set them with their new shape instead");
      wanted.shapes[index] =
          whole_mask_shape(checked().model.inputs()[index], shape, checked().options.state_capacity)
              .value_or(shape);
    }
    checked().switch_to(checked().drained(), wanted);
  });
}

void Session::set_input(std::string_view name, const Tensor& tensor) {
  guard([&] {
    const SessionUses::Exclusive use(checked().uses);
    checked().set_input(checked().drained(), position(checked().inputs, name, "input"), tensor);
  });
}

void Session::set_input(std::string_view name, std::span<const std::byte> values) {
  guard([&] {
    const SessionUses::Exclusive use(checked().uses);
    const size_t index = position(checked().inputs, name, "input");
    checked().require_no_state_input(index);
    checked().check_input_values(index, values);
    const TensorInfo& input = checked().inputs[index];
    if (input.decides_shapes) {
      if (!is_known(input.shape))
        throw Error(ErrorCode::invalid_argument,
                    "the shape of input '" + input.name + "' is open: set it with a Tensor, which has one");
      check_byte_size("input", input.name, {input.dtype, input.shape}, values.size());
      Tensor tensor(input.dtype, input.shape);
      if (!values.empty()) std::memcpy(tensor.mutable_data(), values.data(), values.size());
      const RequestQueue::Lock lock = checked().drained();
      return checked().set_shape_input(index, tensor);
    }
    checked().own(checked().drained()).set_input(index, values);
    checked().staged.erase(index);
  });
}

void Session::run() {
  guard([&] {
    const SessionUses::Exclusive use(checked().uses);
    checked().run();
  });
}

void Session::trim(TrimLevel level) {
  guard([&] {
    const SessionUses::Exclusive use(checked().uses);
    check_choice(level, TrimLevel::weights, "TrimLevel");
    const RequestQueue::Lock lock = checked().drained();
    while (checked().executors.size() > 1) checked().executors.pop_back();
    if (!checked().is_ready()) return;
    for (const auto& executor : checked().executors.front().second)
      executor->trim(level == TrimLevel::weights);
  });
}

Tensor Session::output(std::string_view name) const {
  return guard([&] {
    const SessionUses::Exclusive use(checked().uses);
    const size_t index = position(checked().outputs, name, "output");
    return checked().finished_run(index).output(index);
  });
}

void Session::output(std::string_view name, std::span<std::byte> to) const {
  guard([&] {
    const SessionUses::Exclusive use(checked().uses);
    const size_t index = position(checked().outputs, name, "output");
    checked().finished_run(index).output(index, to);
  });
}

std::map<std::string, Tensor> Session::run(const std::map<std::string, Tensor>& inputs) {
  return guard([&] {
    const SessionUses::Exclusive use(checked().uses);
    for (const auto& [name, tensor] : by_tensor_name(checked().inputs, inputs)) set_input(name, tensor);
    run();
    std::map<std::string, Tensor> results;
    for (size_t i = 0; i < checked().outputs.size(); ++i)
      if (const std::string& output_name = checked().outputs[i].name; !checked().is_state_output(i))
        results[output_name] = output(output_name);
    return results;
  });
}

MemoryReport Session::memory() const {
  return guard([&] {
    const SessionUses::Exclusive use(checked().uses);
    if (!checked().is_ready()) return MemoryReport();
    MemoryReport report = memory_report(checked().first_executor().model());
    report.allocated_bytes = 0;
    for (const auto& executor : checked().executors.front().second)
      report.in_out_bytes += executor->allocated().in_out;
    const std::set<std::shared_ptr<ArenaPool>> pools(checked().pools.begin(), checked().pools.end());
    for (const auto& pool : pools) report.allocated_bytes += pool->bytes();
    report.state_bytes = checked().state ? checked().state->bytes() : 0;
    report.in_flight = checked().options.in_flight;
    report.weights_bytes = checked().weights_bytes();
    report.peak_weights_bytes = report.weights_bytes;  // all weights stay for as long as the session lives
    const WeightBytes weights = checked().first_executor().weight_bytes();
    report.total_weights_bytes = weights.in_all;
    report.streamed_weights_bytes = weights.streamed;
    if (checked().memory_budget) {
      report.memory_budget = checked().memory_budget->limit();
      report.budget_used_bytes = checked().memory_budget->used();
      report.budget_peak_bytes = checked().memory_budget->peak();
    }
    return report;
  });
}

std::vector<LayerTime> Session::layer_times() const {
  return guard([&] {
    const SessionUses::Exclusive use(checked().uses);
    if (!checked().options.profile)
      throw Error(ErrorCode::invalid_argument,
                  "the session measures no times: it was made without SessionOptions::profile");
    std::vector<LayerTime> times;
    if (!checked().is_ready()) return times;
    const std::vector<Executor::TaskSpan> spans = checked().first_executor().task_spans();
    const Program& program = checked().first_executor().program();
    for (size_t i = 0; i < program.tasks.size(); ++i) {
      if (const std::optional<HostPartition>& host = program.tasks[i].host) {
        for (const Node& node : host->graph->nodes) times.push_back(host_layer(node));
        continue;
      }
      times.push_back(layer(program, program.tasks[i]));
      times.back().gpu_ms = spans[i].end_ms - spans[i].begin_ms;
      times.back().begin_ms = spans[i].begin_ms;
    }
    return times;
  });
}

}  // namespace vellum

#include <algorithm>
#include <cstring>
#include <set>

#include "api/guard.hpp"
#include "api/impl.hpp"
#include "api/memory_report.hpp"
#include "api/session_impl.hpp"
#include "passes/passes.hpp"
#include "vulkan/memory.hpp"

namespace vellum {
namespace {

std::vector<TensorInfo> infos(const std::vector<Port>& ports) {
  std::vector<TensorInfo> result;
  for (const Port& port : ports) result.push_back({port.name, port.type.dtype, port.type.shape});
  return result;
}

std::string names(const std::vector<TensorInfo>& infos) {
  std::string list;
  for (const TensorInfo& info : infos) list += (list.empty() ? "'" : ", '") + info.name + "'";
  return list;
}

}  // namespace

size_t position(const std::vector<TensorInfo>& infos, std::string_view name, const char* kind) {
  const auto found =
      std::find_if(infos.begin(), infos.end(), [&](const TensorInfo& info) { return info.name == name; });
  if (found == infos.end())
    throw Error(ErrorCode::not_found, "there is no " + std::string(kind) + " '" + std::string(name) +
                                          "'; the model has " + names(infos));
  return static_cast<size_t>(found - infos.begin());
}

Session::Impl::~Impl() {
  RunsInFlight::Lock lock = runs->lock();
  runs->settle(lock);
}

Session::Impl::Impl(const Device& on, const Model& of, const SessionOptions& given)
    : device(on),
      model(of),
      options(given),
      weights(device.impl()->weights_for(model, options)),
      inputs(model.inputs()),
      outputs(model.outputs()),
      input_set(inputs.size(), false),
      runs(std::make_shared<RunsInFlight>()) {
  if (model.impl()->packed) device.impl()->context->pipelines().add_precompiled_shaders(model.impl()->packed);
  // Throws for one that there is not.
  if (options.memory == MemoryMode::offsets)
    planner::offset_strategy_from_name(options.strategy);
  else
    planner::object_strategy_from_name(options.strategy);
  check_pass_names(options.disabled_passes);
  if (options.cached_shapes == 0)
    throw Error(ErrorCode::invalid_argument,
                "a session must stay ready for one combination of shapes at least");
  if (options.in_flight == 0)
    throw Error(ErrorCode::invalid_argument, "a session must have room for one run in flight at least");
  if (options.in_flight > 1 && options.weights_budget)
    throw Error(ErrorCode::invalid_argument,
                "weights that come to the device layer by layer serve one run at a time: leave out "
                "weights_budget, or in_flight");
  check_input_shapes(model.impl()->graph, options.input_shapes);
  for (TensorInfo& input : inputs) {
    if (const auto found = options.input_shapes.find(input.name); found != options.input_shapes.end())
      input.shape = found->second;
    else if (!input.shape.empty() && input.shape[0] == kUnknownDim &&
             std::count(input.shape.begin(), input.shape.end(), kUnknownDim) == 1)
      input.shape[0] = 1;  // the batch
  }
  const auto& values = model.impl()->graph.values;
  const auto& ids = model.impl()->graph.inputs;
  bool known = true;
  for (size_t i = 0; i < inputs.size(); ++i)
    known = known && is_known(inputs[i].shape) &&
            (values[ids[i]].type_known || options.input_shapes.contains(inputs[i].name));
  if (known) activate(runs->lock(), wanted_shapes());
}

Executor& Session::Impl::ready() const {
  if (Executor* executor = active()) return *executor;
  throw Error(ErrorCode::invalid_argument,
              "the model leaves shapes of inputs open; set the inputs and run, or give shapes, first");
}

std::vector<Shape> Session::Impl::wanted_shapes() const {
  std::vector<Shape> shapes;
  for (size_t i = 0; i < inputs.size(); ++i) {
    const auto set = waiting.find(i);
    shapes.push_back(set != waiting.end() ? set->second.shape() : inputs[i].shape);
  }
  return shapes;
}

// Tuned kernels may take more memory than the device has left: Winograd's weights are several times as large.
Session::Impl::Executors Session::Impl::make_executors(const std::vector<Shape>& shapes) const {
  CompileOptions compile_options = device.impl()->compile_options(options);
  for (size_t i = 0; i < shapes.size(); ++i) compile_options.input_shapes[inputs[i].name] = shapes[i];
  if (!compile_options.tuning || compile_options.tuning->empty())
    return make_executors(device.impl()->compile(model, compile_options));
  try {
    return make_executors(device.impl()->compile(model, compile_options));
  } catch (const Error& error) {
    if (error.code() != ErrorCode::out_of_memory) throw;
    compile_options.tuning = nullptr;
    CompiledModel untuned = device.impl()->compile(model, compile_options);
    untuned.program.warnings.push_back(
        "the session does not use the tuned kernels, which take too much memory: " +
        std::string(error.what()));
    return make_executors(std::move(untuned));
  }
}

Session::Impl::Executors Session::Impl::make_executors(CompiledModel compiled) const {
  const auto shared = std::make_shared<const CompiledModel>(std::move(compiled));
  const std::shared_ptr<gpu::Context>& context = device.impl()->context;
  Executors made;
  while (made.size() < options.in_flight)
    made.push_back(std::make_unique<Executor>(
        context, shared,
        ExecutorOptions{.tasks_per_submit = options.tasks_per_submit, .timestamps = options.profile},
        weights));
  for (const std::string& warning : shared->program.warnings) context->log(LogLevel::warning, warning);
  return made;
}

// With a weights budget the first executor decides how much of it the session takes. One that needs more gets
// it where the others are gone; if it does not even then, the session is ready for nothing.
Session::Impl::Executors Session::Impl::make_room_and_executors(const std::vector<Shape>& shapes) {
  try {
    return make_executors(shapes);
  } catch (const Error& error) {
    if (error.code() != ErrorCode::out_of_memory || options.weights_budget == 0 || !active()) throw;
  }
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (!input_set[i] || waiting.contains(i)) continue;
    if (inputs[i].shape == shapes[i])
      waiting.emplace(i, active()->input(i));
    else
      input_set[i] = false;
  }
  executors.clear();
  return make_executors(shapes);
}

// Values that were set and keep their shape.
void Session::Impl::carry_over(Executor* from, Executor& to) {
  for (size_t i = 0; i < inputs.size(); ++i)
    if (from && from != &to && input_set[i] && !waiting.contains(i) &&
        from->program().inputs[i].type == to.program().inputs[i].type)
      to.set_input(i, from->input(i));
}

// Throws without changing anything but what is cached. No run is in flight.
void Session::Impl::activate(const RunsInFlight::Lock& lock, const std::vector<Shape>& shapes) {
  const auto found = std::find_if(executors.begin(), executors.end(),
                                  [&](const auto& entry) { return entry.first == shapes; });
  Executors made;
  if (found == executors.end()) made = make_room_and_executors(shapes);
  Executor& next = made.empty() ? *found->second.front() : *made.front();
  Executor* const last = active();
  carry_over(last, next);
  for (size_t i = 0; i < inputs.size(); ++i)
    if (last && last->program().inputs[i].type != next.program().inputs[i].type && !waiting.contains(i))
      input_set[i] = false;
  if (!made.empty())
    executors.emplace_front(shapes, std::move(made));
  else
    executors.splice(executors.begin(), executors, found);
  runs->use(lock, executors.front().second);
  while (executors.size() > options.cached_shapes) executors.pop_back();
  inputs = infos(next.program().inputs);
  outputs = infos(next.program().outputs);
  warnings = next.program().warnings;
}

RunsInFlight::Lock Session::Impl::settled() const {
  RunsInFlight::Lock lock = runs->lock();
  runs->settle(lock);
  return lock;
}

Executor& Session::Impl::last_run() const {
  Executor& executor = ready();
  if (outputs_taken)
    throw Error(ErrorCode::invalid_argument,
                "submit() has taken the place of the last run(): ask what it gave back for outputs");
  return executor;
}

void Session::Impl::set_input(size_t index, const Tensor& tensor) {
  const TensorInfo& declared = model.inputs()[index];
  if (tensor.dtype() != declared.dtype)
    throw Error(ErrorCode::invalid_argument,
                "input '" + declared.name + "' wants " + std::string(name(declared.dtype)) + " " +
                    to_string(inputs[index].shape) + " but got " + std::string(name(tensor.dtype())) + " " +
                    to_string(tensor.shape()));
  if (Executor* executor = active(); executor && tensor.shape() == inputs[index].shape) {
    executor->set_input(index, tensor);
    waiting.erase(index);
  } else {
    check_input_shapes(model.impl()->graph, {{declared.name, tensor.shape()}});
    Tensor copy(tensor.dtype(), tensor.shape());
    if (tensor.byte_size()) std::memcpy(copy.mutable_data(), tensor.data(), tensor.byte_size());
    waiting.insert_or_assign(index, std::move(copy));
  }
  input_set[index] = true;
}

// Of outputs whose shapes only a run tells.
void Session::Impl::tell_output_shapes() {
  const Executor& executor = ready();
  if (!executor.program().tail) return;
  for (size_t i = 0; i < outputs.size(); ++i) {
    const TensorType& type = executor.output_type(i);
    outputs[i].dtype = type.dtype;
    outputs[i].shape = type.shape;
  }
}

// Executors for several shapes share memory: each piece counts once.
uint64_t Session::Impl::weights_bytes() const {
  std::set<std::shared_ptr<gpu::Arena>> distinct;
  for (const auto& [shapes, same] : executors)
    for (const auto& arena : same.front()->weights().arenas()) distinct.insert(arena);
  uint64_t bytes = 0;
  for (const auto& arena : distinct) bytes += arena->size();
  return bytes;
}

Session::Session(const Device& device, const Model& model, const SessionOptions& options)
    : impl_(guard([&] { return std::make_unique<Impl>(device, model, options); })) {}
Session::~Session() = default;
Session::Session(Session&&) noexcept = default;
Session& Session::operator=(Session&&) noexcept = default;

const std::vector<TensorInfo>& Session::inputs() const { return impl_->inputs; }
const std::vector<TensorInfo>& Session::outputs() const { return impl_->outputs; }
const std::vector<std::string>& Session::warnings() const { return impl_->warnings; }
size_t Session::dispatch_count() const { return impl_->active() ? impl_->active()->dispatch_count() : 0; }
size_t Session::pipeline_count() const { return impl_->active() ? impl_->active()->pipeline_count() : 0; }
size_t Session::barrier_count() const { return impl_->active() ? impl_->active()->barrier_count() : 0; }

void Session::prepare(const InputShapes& shapes) {
  guard([&] {
    check_input_shapes(impl_->model.impl()->graph, shapes);
    std::vector<Shape> wanted = impl_->wanted_shapes();
    for (const auto& [name, shape] : shapes) wanted[position(impl_->inputs, name, "input")] = shape;
    impl_->activate(impl_->settled(), wanted);
  });
}

void Session::set_input(std::string_view name, const Tensor& tensor) {
  guard([&] {
    impl_->settled();
    impl_->set_input(position(impl_->inputs, name, "input"), tensor);
  });
}

void Session::set_input(std::string_view name, std::span<const std::byte> values) {
  guard([&] {
    const size_t index = position(impl_->inputs, name, "input");
    impl_->settled();
    impl_->ready().set_input(index, values);
    impl_->waiting.erase(index);
    impl_->input_set[index] = true;
  });
}

void Session::run() {
  guard([&] {
    for (size_t i = 0; i < impl_->inputs.size(); ++i)
      if (!impl_->input_set[i])
        throw Error(ErrorCode::invalid_argument, "input '" + impl_->inputs[i].name + "' was not set");
    {
      const RunsInFlight::Lock lock = impl_->settled();
      if (!impl_->waiting.empty() || !impl_->active()) impl_->activate(lock, impl_->wanted_shapes());
    }
    for (const auto& [index, tensor] : impl_->waiting) impl_->active()->set_input(index, tensor);
    impl_->waiting.clear();
    try {
      impl_->active()->run();
    } catch (...) {
      impl_->tell_output_shapes();  // none any more
      throw;
    }
    impl_->tell_output_shapes();
    impl_->outputs_taken = false;
  });
}

Tensor Session::output(std::string_view name) const {
  return guard([&] { return impl_->last_run().output(position(impl_->outputs, name, "output")); });
}

void Session::output(std::string_view name, std::span<std::byte> to) const {
  guard([&] { impl_->last_run().output(position(impl_->outputs, name, "output"), to); });
}

std::map<std::string, Tensor> Session::run(const std::map<std::string, Tensor>& inputs) {
  for (const auto& [name, tensor] : inputs) set_input(name, tensor);
  run();
  std::map<std::string, Tensor> results;
  for (const TensorInfo& info : impl_->outputs) results[info.name] = output(info.name);
  return results;
}

MemoryReport Session::memory() const {
  return guard([&] {
    if (!impl_->active()) return MemoryReport();
    MemoryReport report = memory_report(impl_->ready().model());
    report.allocated_bytes = 0;
    for (const auto& executor : impl_->executors.front().second) {
      report.allocated_bytes += executor->allocated().intermediates;
      report.in_out_bytes += executor->allocated().in_out;
    }
    report.in_flight = impl_->options.in_flight;
    report.weights_bytes = impl_->weights_bytes();
    report.peak_weights_bytes = report.weights_bytes;  // all weights stay for as long as the session lives
    const WeightBytes weights = impl_->ready().weights().bytes();
    report.total_weights_bytes = weights.in_all;
    report.streamed_weights_bytes = weights.streamed;
    return report;
  });
}

std::vector<LayerTime> Session::layer_times() const {
  return guard([&] {
    std::vector<LayerTime> times;
    if (!impl_->active()) return times;
    const std::vector<Executor::TaskSpan> spans = impl_->ready().task_spans();
    const Program& program = impl_->ready().program();
    for (size_t i = 0; i < program.tasks.size(); ++i) {
      times.push_back(layer(program, program.tasks[i]));
      times.back().gpu_ms = spans[i].end_ms - spans[i].begin_ms;
      times.back().begin_ms = spans[i].begin_ms;
    }
    if (program.tail)
      for (const Node& node : program.tail->graph.nodes) times.push_back(host_layer(node));
    return times;
  });
}

}  // namespace vellum

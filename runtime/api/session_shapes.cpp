// Executors of a session for the shapes that its inputs have.
#include <algorithm>
#include <memory>
#include <utility>

#include "api/fit_budget.hpp"
#include "api/session_impl.hpp"

namespace vellum {
namespace {

std::vector<TensorInfo> infos(const std::vector<Port>& ports) {
  std::vector<TensorInfo> result;
  result.reserve(ports.size());
  for (const Port& port : ports) result.push_back({port.name, port.type.dtype, port.type.shape});
  return result;
}

}  // namespace

std::vector<Shape> Session::Impl::wanted_shapes() const {
  std::vector<Shape> shapes;
  for (size_t i = 0; i < inputs.size(); ++i) {
    const auto found = staged.find(i);
    shapes.push_back(found != staged.end() ? found->second.shape() : inputs[i].shape);
  }
  return shapes;
}

// Tuned kernels may take more memory than the device has left: Winograd's weights are several times as large.
Session::Impl::Executors Session::Impl::make_executors(const std::vector<Shape>& shapes) const {
  CompileOptions compile_options = impl(device)->compile_options(options);
  compile_options.progress = progress;
  for (size_t i = 0; i < shapes.size(); ++i) compile_options.input_shapes[inputs[i].name] = shapes[i];
  if (!compile_options.tuning || compile_options.tuning->empty())
    return make_executors(
        std::make_shared<const CompiledModel>(impl(device)->compile(model, compile_options)));
  try {
    return make_executors(
        std::make_shared<const CompiledModel>(impl(device)->compile(model, compile_options)));
  } catch (const Error& error) {
    if (error.code() != ErrorCode::out_of_memory) throw;
    compile_options.tuning = nullptr;
    CompiledModel untuned = impl(device)->compile(model, compile_options);
    untuned.program.warnings.push_back(
        "the session does not use the tuned kernels, which take too much memory: " +
        std::string(error.what()));
    return make_executors(std::make_shared<const CompiledModel>(std::move(untuned)));
  }
}

Session::Impl::Executors Session::Impl::make_executors(std::shared_ptr<const CompiledModel> compiled) const {
  const std::shared_ptr<gpu::Context>& context = impl(device)->context;
  Executors made;
  while (made.size() < options.in_flight)
    made.push_back(std::make_unique<Executor>(context, compiled,
                                              ExecutorOptions{.submits = impl(device)->submit_limits(options),
                                                              .timestamps = options.profile,
                                                              .progress = progress,
                                                              .pool = pools[made.size()],
                                                              .memory_budget = memory_budget},
                                              weights));
  for (const std::string& warning : compiled->program.warnings) context->log(LogLevel::warning, warning);
  return made;
}

// Other shapes leave nothing behind, so that these have the whole budget; not before a way is found.
Session::Impl::Executors Session::Impl::make_executors_within_budget(const RequestQueue::Lock& lock,
                                                                     const std::vector<Shape>& shapes) {
  SessionOptions shaped = options;
  for (size_t i = 0; i < shapes.size(); ++i) shaped.input_shapes[inputs[i].name] = shapes[i];
  FittedModel fitted = fit_budget(Target(&device), model, shaped, progress);
  release_own_request(lock, shapes);
  queue->set_executors(lock, {});
  executors.clear();
  weights = impl(device)->weights_for(model, fitted.way.options, memory_budget);
  return make_executors(std::move(fitted.compiled));
}

// With a weights budget the first executor decides how much of it the session takes. One that needs more gets
// it if the other executors are freed first; if that is not enough, the session is ready for nothing.
Session::Impl::Executors Session::Impl::make_executors_or_free_others(const RequestQueue::Lock& lock,
                                                                      const std::vector<Shape>& shapes) {
  if (memory_budget) return make_executors_within_budget(lock, shapes);
  try {
    return make_executors(shapes);
  } catch (const Error& error) {
    if (error.code() != ErrorCode::out_of_memory || options.weights_budget == 0 || !is_ready()) throw;
  }
  release_own_request(lock, shapes);
  queue->set_executors(lock, {});
  executors.clear();
  return make_executors(shapes);
}

void Session::Impl::switch_to(const RequestQueue::Lock& lock, const std::vector<Shape>& shapes) {
  if (is_ready() && executors.front().first == shapes) return;
  const auto found =
      std::ranges::find_if(executors, [&](const auto& entry) { return entry.first == shapes; });
  if (found == executors.end())
    executors.emplace_front(shapes, make_executors_or_free_others(lock, shapes));
  else
    executors.splice(executors.begin(), executors, found);
  release_own_request(lock, shapes);
  queue->set_executors(lock, executors.front().second);
  while (executors.size() > options.cached_shapes) executors.pop_back();
  const Program& program = first_executor().program();
  inputs = infos(program.inputs);
  outputs = infos(program.outputs);
  warnings = program.warnings;
}

}  // namespace vellum

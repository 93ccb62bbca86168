#include "exec/request.hpp"

#include <exception>
#include <new>

#include "exec/finite_check.hpp"

namespace vellum {

void Request::copy_outputs() {
  for (const auto& [output, to] : targets_) executor_->output(output, to);
  if (reusable_) return;  // they stay in the executor
  const std::vector<Port>& outputs = executor_->program().outputs;
  for (size_t i = 0; i < outputs.size(); ++i)
    if (keeps_outputs_ || outputs[i].host_output) kept_.emplace_back(outputs[i].name, executor_->output(i));
}

void Request::check_finite_outputs() const {
  const std::vector<Port>& outputs = executor_->program().outputs;
  for (size_t i = 0; i < outputs.size(); ++i) {
    const HostTensor output = executor_->output(i);
    check_finite("output '" + outputs[i].name + "'", output.dtype(), {output.data(), output.byte_size()});
  }
}

void Request::complete() {
  try {
    executor_->finish();
    if (checks_outputs_) check_finite_outputs();
    copy_outputs();
    succeeded_ = true;
  } catch (const Error& error) {
    error_ = error;
  } catch (const std::bad_alloc&) {
    error_ = Error(ErrorCode::out_of_memory, "the host is out of memory");
  } catch (const std::exception& error) {
    error_ = Error(ErrorCode::internal, error.what());
  }
}

void Request::reset() {
  targets_.clear();
  kept_.clear();
  error_.reset();
  in_use_ = reusable_ = keeps_outputs_ = checks_outputs_ = succeeded_ = false;
}

}  // namespace vellum

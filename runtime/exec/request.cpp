#include "exec/request.hpp"

#include <algorithm>
#include <exception>
#include <new>
#include <string>

#include "exec/finite_check.hpp"
#include "exec/host_values.hpp"

namespace vellum {

bool Request::writes_output(size_t output) const {
  return std::ranges::any_of(targets_, [&](const auto& target) { return target.first == output; });
}

// The caller's memory is laid out for the type that the model declares. Where a run determines the type, the
// file may have declared another one of as many bytes.
void Request::check_type(size_t output) const {
  const Port& port = executor_->program().outputs[output];
  const TensorType& type = executor_->output_type(output);
  if (type != port.type)
    throw Error(ErrorCode::invalid_argument,
                "the model declares output '" + port.name + "' as " + std::string(name(port.type.dtype)) +
                    " " + to_string(port.type.shape) + ", but the run computed " +
                    std::string(name(type.dtype)) + " " + to_string(type.shape) + ": let the run keep it");
}

void Request::copy_outputs() {
  for (const auto& [output, to] : targets_) check_type(output);
  for (const auto& [output, to] : targets_) executor_->output(output, to);
  if (reusable_) return;  // they stay in the executor
  const std::vector<Port>& outputs = executor_->program().outputs;
  for (size_t i = 0; i < outputs.size(); ++i)
    if (!outputs[i].is_state && (keeps_outputs_ || (outputs[i].host_output && !writes_output(i))))
      kept_.emplace_back(outputs[i].name, executor_->output(i));
}

void Request::check_finite_outputs() const {
  const std::vector<Port>& outputs = executor_->program().outputs;
  for (size_t i = 0; i < outputs.size(); ++i) {
    if (outputs[i].is_state) continue;
    const HostTensor output = executor_->output(i);
    check_finite("output '" + outputs[i].name + "'", output.dtype(), {output.data(), output.byte_size()});
  }
}

void Request::require_same_outputs_again() {
  const std::vector<Port>& outputs = executor_->program().outputs;
  std::vector<HostTensor> first;
  for (size_t i = 0; i < outputs.size(); ++i) first.push_back(executor_->output(i));
  executor_->run();
  for (size_t i = 0; i < outputs.size(); ++i)
    if (!have_same_bits(executor_->output(i), first[i]))
      throw Error(ErrorCode::internal,
                  "output '" + outputs[i].name +
                      "' has other bits when the run is repeated: the device or its driver computes "
                      "unreliably; `vellum doctor --thorough` may name the operator");
}

void Request::complete() {
  try {
    executor_->finish();
    if (is_repeated()) require_same_outputs_again();
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
  repeat_every_ = 0;
}

}  // namespace vellum

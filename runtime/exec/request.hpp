// One inference on an executor: its inputs, how far it is, and its outputs.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "exec/executor.hpp"
#include "vellum/error.hpp"

namespace vellum {

// Requests belong to a RequestQueue, which changes their states:
//
//   try_begin()              submit()             retired              release()
//   ----------> recording ------------> pending ----> completing ----> completed ----------> used again
//                   | discard()                                            ^  | submit() of a
//                   +----------------------------------------------------->+  | reusable request
//
// A request gives its executor back when it completes. A reusable request keeps it until release(): outputs
// stay readable in the executor, inputs keep their values, and the request can be submitted again. It begins
// as completed, since nobody waits for it before it is submitted.
class Request {
 public:
  using KeptOutputs = std::vector<std::pair<std::string, HostTensor>>;

  // Before submit(), or of a reusable request.
  Executor& executor() const { return *executor_; }

  // Before submit(): by position in the program's inputs.
  template <typename Values>
  void set_input(size_t input, const Values& values) {
    executor_->set_input(input, values);
  }
  bool has_input(size_t input) const { return executor_->has_input(input); }

  // Before submit(): writes the output to `to`, which must stay valid until the request has completed.
  void write_output(size_t output, std::span<std::byte> to) { targets_.emplace_back(output, to); }
  bool writes_output(size_t output) const;
  // Before submit(): copies every output to kept outputs, not only those that a host partition with run-time
  // shapes computes and that are not written.
  void keep_outputs() { keeps_outputs_ = true; }
  // Outputs with NaN or infinities become the request's error.
  void check_outputs() { checks_outputs_ = true; }

  // Whether the last submit completed without an error, so that the executor has its outputs.
  bool succeeded() const { return succeeded_; }

 private:
  friend class RequestQueue;
  enum class State : uint8_t { recording, pending, completing, completed };

  // Waits for the executor and distributes the outputs; what fails becomes the request's error.
  void complete();
  void check_type(size_t output) const;
  void copy_outputs();
  void check_finite_outputs() const;
  void reset();

  Executor* executor_ = nullptr;
  State state_ = State::completed;
  uint64_t number_ = 0;  // requests complete in the order of their numbers
  bool in_use_ = false;  // from try_begin() to release()
  bool reusable_ = false;
  bool keeps_outputs_ = false;
  bool checks_outputs_ = false;
  bool succeeded_ = false;
  std::vector<std::pair<size_t, std::span<std::byte>>> targets_;
  KeptOutputs kept_;
  std::optional<Error> error_;
};

}  // namespace vellum

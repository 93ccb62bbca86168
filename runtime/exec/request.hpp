// One inference on an executor: its inputs, its state and its outputs.
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
// A request returns its executor when it completes. A reusable request keeps the executor until release():
// outputs stay readable in it, inputs keep their values, and the request can be submitted again. Its initial
// state is completed, since nobody waits for it before it is submitted.
class Request {
 public:
  using KeptOutputs = std::vector<std::pair<std::string, HostTensor>>;

  // Valid before submit(), and always for a reusable request.
  Executor& executor() const { return *executor_; }

  // Sets an input by its position in the program's inputs. Call it before submit().
  template <typename Values>
  void set_input(size_t input, const Values& values) {
    executor_->set_input(input, values);
  }
  bool has_input(size_t input) const { return executor_->has_input(input); }

  // Registers memory to which the output will be written. It must stay valid until the request has completed.
  // Call it before submit().
  void write_output(size_t output, std::span<std::byte> to) { targets_.emplace_back(output, to); }
  bool writes_output(size_t output) const;
  // Keeps a copy of every output. Otherwise only outputs with run-time shapes that have no registered memory
  // are kept. Call it before submit().
  void keep_outputs() { keeps_outputs_ = true; }
  // Makes NaN or infinities in outputs an error of the request.
  void check_outputs() { checks_outputs_ = true; }
  // Runs request 0 and every further request whose number is a multiple of `requests` twice. A second result
  // with other bits is an error of the request.
  void repeat_every(uint32_t requests) { repeat_every_ = requests; }

  // Returns whether the last submit completed without an error, so that the executor holds its outputs.
  bool succeeded() const { return succeeded_; }

 private:
  friend class RequestQueue;
  enum class State : uint8_t { recording, pending, completing, completed };

  // Waits for the executor and distributes the outputs. An exception becomes the request's error.
  void complete();
  void check_type(size_t output) const;
  void copy_outputs();
  void check_finite_outputs() const;
  bool is_repeated() const { return repeat_every_ > 0 && number_ % repeat_every_ == 0; }
  void require_same_outputs_again();
  void reset();

  Executor* executor_ = nullptr;
  State state_ = State::completed;
  uint64_t number_ = 0;  // requests complete in the order of their numbers
  bool in_use_ = false;  // from try_begin() to release()
  bool reusable_ = false;
  bool keeps_outputs_ = false;
  bool checks_outputs_ = false;
  bool succeeded_ = false;
  uint32_t repeat_every_ = 0;
  std::vector<std::pair<size_t, std::span<std::byte>>> targets_;
  KeptOutputs kept_;
  std::optional<Error> error_;
};

}  // namespace vellum

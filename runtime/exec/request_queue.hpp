// The requests of a session: several inferences of one network at the same time. Each uses an executor with
// its own inputs, outputs, intermediate tensors and commands; weights and pipelines are shared.
//
// The queue has no threads. The thread that records a request submits it. The first thread that waits for a
// request, or needs its executor, retires it: it waits for the device and distributes the outputs. Requests
// are retired in the order in which they were begun.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "exec/request.hpp"

namespace vellum {

class RequestQueue {
 public:
  using Lock = std::unique_lock<std::mutex>;

  using Names = std::map<std::string, std::string, std::less<>>;

  // signature_names: maps names of outputs in the model's signature to tensor names.
  explicit RequestQueue(Names signature_names = {}) : signature_names_(std::move(signature_names)) {}
  RequestQueue(const RequestQueue&) = delete;
  RequestQueue& operator=(const RequestQueue&) = delete;

  // All functions are thread-safe. Functions that take the lock may release it while they wait for the
  // device, except set_executors(), the try_begin functions and release().
  Lock lock() { return Lock(mutex_); }
  Lock try_lock() { return Lock(mutex_, std::try_to_lock); }
  // Retires all requests. Their errors are kept for wait().
  void drain(Lock& lock);
  // Sets the executors for later requests; each serves one request at a time. No request may be using the
  // previous ones.
  void set_executors(const Lock& lock, std::span<const std::unique_ptr<Executor>> executors);

  // Return null if no executor is free. Otherwise the caller sets the inputs, then calls submit() or
  // discard().
  Request* try_begin(const Lock& lock);
  Request* try_begin_reusable(const Lock& lock);
  // Retires the oldest request, so that its executor is free.
  void retire_oldest(Lock& lock);
  // Retires the oldest requests that the device has finished and that have no host partition left.
  void retire_finished(Lock& lock);
  // Submits a request. If it throws, the request is discarded.
  void submit(Request& request, const SubmitSemaphores& semaphores = {});
  void discard(Request& request);  // for a request that was not submitted
  // Runs `work` instead of the commands of a reusable request's executor. `work` throws if it fails;
  // otherwise the request has succeeded, and its executor holds the outputs.
  template <typename Work>
  void run_instead(const Lock&, Request& request, const Work& work) {
    request.succeeded_ = false;
    request.error_.reset();
    work();
    request.succeeded_ = true;
  }

  // Returns whether wait() would return at once. Runs operators on the host whose inputs are ready.
  bool done(Request& request);
  // Waits for the request until the deadline; returns done().
  bool wait_until(Request& request, std::chrono::steady_clock::time_point deadline);
  // See Executor::cancel(). Does not wait.
  void cancel(Request& request);
  // Waits, then throws the error of the request, if any, on every call.
  void wait(Request& request);
  // Waits, then returns the outputs that were kept, and those whose shapes the run determined.
  const Request::KeptOutputs& outputs(Request& request);
  // Returns the tensor name of an output. `name` may be its name in the signature.
  std::string_view output_name(std::string_view name) const {
    const auto found = signature_names_.find(name);
    return found == signature_names_.end() ? name : found->second;
  }
  // Waits for the request, and frees it. The caller must not use the request after this call.
  void release(Request& request);
  void release(const Lock& lock, Request& request);  // for a completed request; does not wait

 private:
  Request* oldest() const;
  Request* begin(bool reusable);
  template <typename Ask>
  bool ask_executor(Lock& lock, Request& request, const Ask& ask);
  void retire(Lock& lock, Request& request);
  void retire_up_to(Lock& lock, const Request& request);
  void finish(Request& request);
  void free_executor(Request& request);

  const Names signature_names_;
  std::mutex mutex_;
  std::condition_variable changed_;  // the state of a request changed
  std::vector<Executor*> free_;      // a stack: the last is used next
  // Grows to the largest number of simultaneous requests, after which requests allocate nothing.
  std::vector<std::unique_ptr<Request>> requests_;
  uint64_t begun_ = 0;
};

}  // namespace vellum

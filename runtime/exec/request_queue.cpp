#include "exec/request_queue.hpp"

#include <algorithm>

namespace vellum {

Request* RequestQueue::oldest() const {
  Request* first = nullptr;
  for (const auto& request : requests_)
    if (request->state_ != Request::State::completed && (!first || request->number_ < first->number_))
      first = request.get();
  return first;
}

void RequestQueue::set_executors(const Lock&, std::span<const std::unique_ptr<Executor>> executors) {
  const bool used = std::ranges::any_of(requests_, [](const auto& request) { return request->executor_; });
  if (used) throw Error(ErrorCode::internal, "executors are exchanged while a request uses one");
  free_.clear();
  for (size_t i = executors.size(); i-- > 0;) free_.push_back(executors[i].get());
}

void RequestQueue::drain(Lock& lock) {
  while (oldest()) retire_oldest(lock);
}

void RequestQueue::retire_oldest(Lock& lock) {
  Request* const first = oldest();
  if (!first) return;
  if (first->state_ == Request::State::pending)
    retire(lock, *first);
  else
    changed_.wait(lock);  // another thread records or retires it
}

Request* RequestQueue::begin(bool reusable) {
  if (free_.empty()) return nullptr;
  auto unused = std::ranges::find_if(requests_, [](const auto& request) { return !request->in_use_; });
  if (unused == requests_.end()) unused = requests_.insert(requests_.end(), std::make_unique<Request>());
  Request& request = **unused;
  request.executor_ = free_.back();
  request.executor_->forget_inputs();
  free_.pop_back();
  request.state_ = reusable ? Request::State::completed : Request::State::recording;
  request.number_ = begun_++;
  request.in_use_ = true;
  request.reusable_ = reusable;
  return &request;
}

Request* RequestQueue::try_begin(const Lock&) { return begin(false); }

Request* RequestQueue::try_begin_reusable(const Lock&) { return begin(true); }

void RequestQueue::submit(Request& request, const SubmitSemaphores& semaphores) {
  if (request.reusable_) {
    const Lock held(mutex_);
    request.state_ = Request::State::recording;
    request.number_ = begun_++;
    request.succeeded_ = false;
    request.error_.reset();
  }
  try {
    request.executor_->start(semaphores);
  } catch (...) {
    discard(request);
    throw;
  }
  const Lock held(mutex_);
  request.state_ = Request::State::pending;
  changed_.notify_all();
}

void RequestQueue::free_executor(Request& request) {
  if (request.executor_) free_.push_back(request.executor_);
  request.executor_ = nullptr;
}

// The state that ends a request, whether it ran or not.
void RequestQueue::finish(Request& request) {
  request.state_ = Request::State::completed;
  if (!request.reusable_) free_executor(request);
  changed_.notify_all();
}

void RequestQueue::discard(Request& request) {
  const Lock held(mutex_);
  finish(request);
  if (!request.reusable_) request.reset();
}

// The lock is released while the device or the host works.
void RequestQueue::retire(Lock& lock, Request& request) {
  request.state_ = Request::State::completing;
  lock.unlock();
  request.complete();
  lock.lock();
  finish(request);
}

// Returns what ask(executor) returns, and true if it throws.
template <typename Ask>
bool RequestQueue::ask_executor(Lock& lock, Request& request, const Ask& ask) {
  request.state_ = Request::State::completing;
  lock.unlock();
  bool ready = true;
  try {
    ready = ask(*request.executor_);
  } catch (...) {
    // The error appears again when the request is retired, and stays with it.
  }
  lock.lock();
  request.state_ = Request::State::pending;
  changed_.notify_all();
  return ready;
}

void RequestQueue::retire_finished(Lock& lock) {
  const auto poll = [](Executor& executor) { return executor.poll(Executor::HostWork::no); };
  for (;;) {
    Request* const first = oldest();
    if (!first || first->state_ != Request::State::pending || !ask_executor(lock, *first, poll)) return;
    if (first->state_ == Request::State::pending) retire(lock, *first);
  }
}

bool RequestQueue::done(Request& request) {
  const auto poll = [](Executor& executor) { return executor.poll(); };
  Lock lock(mutex_);
  while (request.state_ != Request::State::completed) {
    Request& first = *oldest();
    if (first.state_ != Request::State::pending || !ask_executor(lock, first, poll)) return false;
    if (first.state_ == Request::State::pending) retire(lock, first);
  }
  return true;
}

bool RequestQueue::wait_until(Request& request, std::chrono::steady_clock::time_point deadline) {
  const auto wait = [&](Executor& executor) { return executor.wait_until(deadline); };
  Lock lock(mutex_);
  while (request.state_ != Request::State::completed) {
    Request& first = *oldest();
    if (first.state_ != Request::State::pending) {  // another thread records or retires it
      if (changed_.wait_until(lock, deadline) == std::cv_status::timeout) return false;
      continue;
    }
    if (!ask_executor(lock, first, wait)) return false;
    if (first.state_ == Request::State::pending) retire(lock, first);
  }
  return true;
}

void RequestQueue::cancel(Request& request) {
  const Lock held(mutex_);
  if (request.state_ != Request::State::completed) request.executor_->cancel();
}

// Earlier requests first: a device works in order, so no single wait is longer than one run.
void RequestQueue::retire_up_to(Lock& lock, const Request& request) {
  while (request.state_ != Request::State::completed) retire_oldest(lock);
}

void RequestQueue::wait(Request& request) {
  Lock lock(mutex_);
  retire_up_to(lock, request);
  if (request.error_) throw Error(*request.error_);
}

const Request::KeptOutputs& RequestQueue::outputs(Request& request) {
  wait(request);
  return request.kept_;
}

void RequestQueue::release(Request& request) {
  Lock lock(mutex_);
  retire_up_to(lock, request);
  release(lock, request);
}

void RequestQueue::release(const Lock&, Request& request) {
  free_executor(request);
  request.reset();
}

}  // namespace vellum

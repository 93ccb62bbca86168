// SessionCreation: makes a session on a thread of its own.
#include <chrono>
#include <future>
#include <memory>
#include <system_error>
#include <utility>

#include "api/guard.hpp"
#include "api/session_impl.hpp"
#include "platform/deadline.hpp"
#include "platform/progress.hpp"

namespace vellum {

struct SessionCreation::Impl {
  Progress progress;
  std::future<Session> session;  // last: its destructor waits for the thread

  ~Impl() { progress.cancel(); }
  std::future<Session>& awaited();
};

SessionCreation Session::create_async(const Device& device, const Model& model,
                                      const SessionOptions& options) {
  return guard([&] {
    SessionCreation creation;
    creation.impl_ = std::make_unique<SessionCreation::Impl>();
    const auto make = [device, model, options, progress = &creation.impl_->progress] {
      return guard([&] { return Session(std::make_unique<Impl>(device, model, options, progress)); });
    };
    try {
      creation.impl_->session = std::async(std::launch::async, make);
    } catch (const std::system_error&) {
      throw Error(ErrorCode::out_of_memory, "the system starts no further thread to make the session on");
    }
    return creation;
  });
}

SessionCreation::SessionCreation() = default;
SessionCreation::~SessionCreation() = default;
SessionCreation::SessionCreation(SessionCreation&&) noexcept = default;
SessionCreation& SessionCreation::operator=(SessionCreation&&) noexcept = default;

SessionCreation::Impl& SessionCreation::checked() const {
  if (!impl_) throw Error(ErrorCode::invalid_argument, "no session is being made: create_async() began none");
  return *impl_;
}

bool SessionCreation::valid() const { return impl_ && impl_->session.valid(); }

std::future<Session>& SessionCreation::Impl::awaited() {
  if (!session.valid()) throw Error(ErrorCode::invalid_argument, "the session was taken already");
  return session;
}

CreationProgress SessionCreation::progress() const {
  const Progress& progress = checked().progress;
  return {progress.done(), progress.total()};
}

bool SessionCreation::done() const { return wait_for(std::chrono::nanoseconds::zero()); }

bool SessionCreation::wait_for(std::chrono::nanoseconds timeout) const {
  return checked().awaited().wait_until(platform::deadline_after(timeout)) == std::future_status::ready;
}

void SessionCreation::cancel() const { checked().progress.cancel(); }

Session SessionCreation::get() { return checked().awaited().get(); }

}  // namespace vellum

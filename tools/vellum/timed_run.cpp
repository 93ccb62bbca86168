#include "timed_run.hpp"

#include <algorithm>
#include <chrono>

#include "vellum/error.hpp"

namespace vellum::cli {
namespace {

bool has_growing_caches(const Session& session) {
  return std::ranges::any_of(session.states(),
                             [](const StateInfo& state) { return state.input == "cache_length"; });
}

double run(Session& session) {
  const auto begin = std::chrono::steady_clock::now();
  session.run();
  return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begin).count();
}

}  // namespace

double timed_run(Session& session) {
  try {
    return run(session);
  } catch (const Error& error) {
    if (error.code() != ErrorCode::invalid_argument || !has_growing_caches(session)) throw;
    session.reset_state();
    return run(session);
  }
}

}  // namespace vellum::cli

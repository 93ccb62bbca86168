// A run of a session whose time is measured.
#pragma once

#include "vellum/session.hpp"

namespace vellum::cli {

// Runs the session, and returns the milliseconds that the call took. If the growing caches are too full for
// the tokens of the run, the state is reset first.
double timed_run(Session& session);

}  // namespace vellum::cli

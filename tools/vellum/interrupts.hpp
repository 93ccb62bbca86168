// Ends the process when the user or the system asks for it, without leaving marks of a crash.
#pragma once

namespace vellum::cli {

// Starts a thread that waits for SIGINT, SIGTERM and SIGHUP. Before the process ends by the signal, the crash
// marks of calls in progress are discarded (discard_attempts()), so that the next process does not count them
// as crashes. Call it before other threads begin: they inherit the mask that leaves the signals to this
// thread.
void discard_attempts_on_interrupts();

}  // namespace vellum::cli

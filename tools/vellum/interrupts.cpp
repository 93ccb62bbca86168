#include "interrupts.hpp"

#include "vellum/kernel_check.hpp"

#ifdef _WIN32
#include <windows.h>
#else
#include <csignal>
#include <system_error>
#include <thread>
#endif

namespace vellum::cli {

#ifdef _WIN32

void discard_attempts_on_interrupts() {
  // Windows calls it on a thread of its own, and then ends the process.
  const auto discard = [](DWORD) -> BOOL {
    discard_attempts();
    return FALSE;
  };
  SetConsoleCtrlHandler(discard, TRUE);
}

#else

void discard_attempts_on_interrupts() {
  sigset_t signals, before;
  sigemptyset(&signals);
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) {
    struct sigaction action {};
    // nohup, and shells in the background, have the process ignore some.
    if (sigaction(signal, nullptr, &action) == 0 && action.sa_handler == SIG_DFL) sigaddset(&signals, signal);
  }
  if (pthread_sigmask(SIG_BLOCK, &signals, &before) != 0) return;
  const auto wait = [signals] {
    int number = 0;
    if (sigwait(&signals, &number) != 0) return;
    discard_attempts();
    std::signal(number, SIG_DFL);
    sigset_t one;
    sigemptyset(&one);
    sigaddset(&one, number);
    pthread_sigmask(SIG_UNBLOCK, &one, nullptr);
    std::raise(number);
  };
  try {
    std::thread(wait).detach();
  } catch (const std::system_error&) {  // no thread: the signals end the process as they do elsewhere
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
  }
}

#endif

}  // namespace vellum::cli

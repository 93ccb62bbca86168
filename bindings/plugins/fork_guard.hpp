// Detects that the process was forked. Vulkan's objects and the driver's threads do not survive a fork: a run
// in the child process would wait forever.
#pragma once

#ifndef _WIN32
#include <unistd.h>
#endif

#include "vellum/error.hpp"

namespace vellum::plugin {

class ForkGuard {
 public:
#ifdef _WIN32
  ForkGuard() {}  // not defaulted: constant members need a constructor that is written
  void check() const {}
#else
  // Throws Error(unsupported) in a child of the process that made this object.
  void check() const {
    if (getpid() != process_)
      throw Error(
          ErrorCode::unsupported,
          "this process was forked after Vellum had opened its device; start workers by \"spawn\", or "
          "make the first session in each worker");
  }

 private:
  const pid_t process_ = getpid();
#endif
};

}  // namespace vellum::plugin

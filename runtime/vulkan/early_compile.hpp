// Has a driver compile pipelines that it would compile at their first dispatch.
#pragma once

#include <memory>
#include <mutex>
#include <vector>

namespace vellum::gpu {

class Arena;
class Context;
class Pipeline;

// For drivers that compiles_at_first_dispatch() is true of (caps/driver_traits.hpp); nothing happens on
// others. Thread-safe.
class EarlyCompile {
 public:
  EarlyCompile(std::shared_ptr<Context> context, std::shared_ptr<Arena> memory);
  ~EarlyCompile();
  EarlyCompile(const EarlyCompile&) = delete;
  EarlyCompile& operator=(const EarlyCompile&) = delete;

  // Submits a dispatch of no workgroups and returns: the driver compiles on a thread of its own. A pipeline
  // that reads or writes images is left to its first dispatch, for what is compiled depends on their kind; so
  // is one that memory is too short for.
  void begin(const std::shared_ptr<const Pipeline>& pipeline);
  // Until all of them are compiled.
  void finish();

 private:
  struct Dispatch;
  std::shared_ptr<Context> context_;
  std::shared_ptr<Arena> memory_;
  std::mutex mutex_;
  std::vector<std::unique_ptr<Dispatch>> dispatches_;
};

}  // namespace vellum::gpu

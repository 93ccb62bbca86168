// The part of the Parallel Patterns Library that <future> uses.
#pragma once
namespace Concurrency {
template <typename Result>
class task {
 public:
  void wait();
  Result get();
};
template <typename Function>
task<void> create_task(Function&&) {
  return {};
}
}  // namespace Concurrency

// What <future> uses of the Parallel Patterns Library.
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

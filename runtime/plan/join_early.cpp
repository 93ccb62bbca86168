#include "plan/join_early.hpp"

#include "plan/order.hpp"

namespace vellum {

void join_early(Program& program, const std::vector<bool>& joins) {
  const std::vector<std::vector<size_t>> before = dependencies(program);
  std::vector<std::vector<size_t>> followers(program.tasks.size());
  std::vector<size_t> waits(program.tasks.size());
  for (size_t t = 0; t < program.tasks.size(); ++t) {
    waits[t] = before[t].size();
    for (const size_t earlier : before[t]) followers[earlier].push_back(t);
  }
  std::vector<size_t> order;
  order.reserve(program.tasks.size());
  std::vector<size_t> ready;  // joins, the next one last
  for (size_t t = program.tasks.size(); t-- > 0;)
    if (joins[t] && waits[t] == 0) ready.push_back(t);
  const auto finish = [&](size_t task) {
    order.push_back(task);
    for (size_t i = followers[task].size(); i-- > 0;)
      if (const size_t follower = followers[task][i]; --waits[follower] == 0 && joins[follower])
        ready.push_back(follower);
  };
  const auto finish_joins = [&] {
    while (!ready.empty()) {
      const size_t join = ready.back();
      ready.pop_back();
      finish(join);
    }
  };
  finish_joins();
  for (size_t t = 0; t < program.tasks.size(); ++t) {
    if (joins[t]) continue;  // after its last dependency
    finish(t);
    finish_joins();
  }
  apply_order(program, order);
}

}  // namespace vellum

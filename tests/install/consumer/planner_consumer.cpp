#include <iostream>
#include <vellum/planner/plan.hpp>
#include <vector>

int main() {
  using namespace vellum::planner;
  const std::vector<TensorUsageRecord> records{{Bytes{64}, 0, 1}, {Bytes{32}, 1, 2}, {Bytes{48}, 2, 3}};
  std::cout << plan_objects(records, ObjectStrategy::greedy_by_size).total_bytes << " bytes\n";
}

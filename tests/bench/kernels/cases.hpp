// The operators that are measured, at the shapes of real networks.
#pragma once

#include <string>
#include <vector>

#include "support/operator_case.hpp"

namespace vellum::bench {

struct KernelCase {
  std::string name;  // "1x1 96>96 16x16"
  test::OperatorCase op;
  bool quick = false;  // among the few that CI runs
};

std::vector<KernelCase> kernel_cases();

}  // namespace vellum::bench

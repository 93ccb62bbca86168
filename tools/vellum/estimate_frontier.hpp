// vellum estimate --frontier: time over memory, from the smallest budget to everything resident.
#pragma once

#include <string>

#include "estimate_budget.hpp"
#include "options.hpp"

namespace vellum::cli {

struct FrontierArguments {
  Options options;
  std::string model, caps, svg;
  bool measure = false;
};

// Prints the table or the JSON document, and writes the picture.
void estimate_frontier(const FrontierArguments& arguments);

}  // namespace vellum::cli

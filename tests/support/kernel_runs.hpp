// Runs of one operator's case in several configurations, for check_operator() and check_candidates().
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "kernels/framework/lowering.hpp"
#include "support/operator_case.hpp"

namespace vellum::test {

struct Computation {
  std::string text;  // the dispatches, equal where two configurations lead to the same ones
  // What lavapipe compiles: the dispatches' kernels, for images that are powers of two or not.
  std::set<std::string> kernels;
};

// Of each parameter of the sweep the index of a value: storage, precision, layout, fold, variant, device.
using Combination = std::vector<size_t>;

// How a case is lowered, and for which device.
struct Configuration {
  LoweringOptions options;
  DeviceCaps caps;
  Combination values;
};

// Runs one case in several configurations, once where several lead to the same dispatches, and compares each
// output with the host reference.
class KernelRuns {
 public:
  explicit KernelRuns(const OperatorCase& test) : test_(test) {}

  // What the configuration leads to; nullopt where the case has no such configuration.
  std::optional<Computation> computation_of(const Configuration& configuration);
  // Unless the same dispatches ran already; of all configurations but the first, one in `one_in` runs, whose
  // text decides.
  void run(const Configuration& configuration, size_t one_in = 1);

 private:
  struct Reference {
    Reference(const OperatorCase& test, bool fp16);
    Graph graph;
    std::vector<HostTensor> inputs, outputs;
  };

  const Reference& reference_of(const Configuration& configuration);
  std::string describe(const Configuration& configuration) const;
  std::optional<Program> lowered(const Configuration& configuration);

  const OperatorCase& test_;
  std::map<bool, Reference> references_;  // by whether it is rounded to fp16
  std::set<std::string> ran_;             // the text of each computation
};

}  // namespace vellum::test

// One operator with its inputs, as tests and benchmarks of kernels run it.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "graph/attributes.hpp"
#include "graph/graph.hpp"
#include "vellum/options.hpp"

namespace vellum::test {

struct OperatorCase {
  std::string type;                               // ONNX operator type
  std::vector<std::optional<HostTensor>> inputs;  // nullopt: left out
  Attributes attributes = {};
  std::set<size_t> constants = {};        // positions of the inputs that are constants of the graph
  std::map<size_t, size_t> same_as = {};  // inputs that are left out above, because they are that one again
  int opset = 13;
  size_t output_count = 1;
  Activation activation = {};  // fused through with_activation()
  // |device - reference| <= tolerance * max(1, |reference|)
  double fp32_tolerance = 1e-5, fp16_tolerance = 1e-2;
  double halves_tolerance = 2e-2;  // of Arithmetic::fp16, whose sums of sixteen products are halves
  // In fp16 a difference of so much is allowed as well: for integers that are rounded from halves.
  double fp16_absolute = 0;
  Winograd winograd = Winograd::off;
  // Layouts that the case is run in; integer tensors are always linear.
  bool channels4_inputs = true, linear_inputs = true;
  bool arithmetic_fp16 =
      true;  // with Arithmetic::fp16 as well; off where that takes a driver long to compile
  // Off for infinities: a device need not keep them in halves (shaderSignedZeroInfNanPreserveFloat16).
  bool fp16 = true;
  // Lowers the case as for a GPU as well, where workgroups share loops that a CPU's invocations run alone.
  bool as_for_gpu = false;
  // Some operators may run on the host in some layouts; by default that fails the test.
  bool host_allowed = false;
  std::shared_ptr<const Operator> op = nullptr;  // in place of ONNX's, for what ONNX has not
};

// The graph of one node that has the case's inputs, less the constants.
Graph single_node_graph(const OperatorCase& test, bool round_to_half = false);

// Of tensors of floats; others as they are.
HostTensor rounded_to_half(const HostTensor& tensor);

}  // namespace vellum::test

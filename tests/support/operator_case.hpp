// Single operators with their inputs, which tests and benchmarks of kernels run.
#pragma once

#include <cstdint>
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

// The storages, layouts, precisions and arithmetic in which a case runs, and the tolerances of its results
// against the host reference. check_operator() (kernel_harness.hpp) chooses among all combinations of
//
//   storage     image2d, image3d, buffer    always all
//   layout      channels4, linear           if channels4_inputs, if linear_inputs
//   precision   fp32, fp16                  always, if fp16
//   fold        no, yes                     in image2d, if a tensor folds
//   variant     none, the other kind of buffer reads, kernels for a GPU (if as_for_gpu), fp16 products
//               (if arithmetic_fp16)
//   device      those of caps_to_test()
//
// The cases of an operator in a test suite have together all pairs of storage, layout, precision and case,
// and each fold, variant and device. On SwiftShader the first of these cases is one run, and further ones
// are none. VELLUM_TEST_FULL=1 runs all combinations.
struct OperatorSweep {
  // Layouts of the float inputs. Integer inputs are always linear.
  bool channels4_inputs = true, linear_inputs = true;
  // Set it to false for infinities, which a device need not keep in fp16
  // (shaderSignedZeroInfNanPreserveFloat16).
  bool fp16 = true;
  // Also runs fp16 with Arithmetic::fp16, if the device has it and a kernel uses it: in image2d and buffers,
  // in one layout (channels4 if the sweep has it). Off where a driver takes long to compile such kernels.
  bool arithmetic_fp16 = true;
  // Also chooses kernels as for a GPU, where a workgroup's invocations share the loops that one invocation
  // runs alone on a CPU.
  bool as_for_gpu = false;
  // Accepts that the operator runs on the host in some layouts. Otherwise that fails the test.
  bool host_allowed = false;
  // Accepts that the operator runs on the host on a device with fewer storage buffers than this.
  uint32_t buffers = 0;
  Winograd winograd = Winograd::off;

  // A result passes if |result - reference| <= tolerance * max(1, |reference|).
  double fp32_tolerance = 1e-5, fp16_tolerance = 1e-2;
  // With Arithmetic::fp16, which sums up to sixteen products in fp16, the larger of this and fp16_tolerance
  // applies.
  double halves_tolerance = 2e-2;
  // A result also passes if |result - reference| is at most this: for integers that are rounded from floats
  // of the precision.
  double fp32_absolute = 0, fp16_absolute = 0;
};

// An operator with its inputs and the sweep in which it is checked.
struct OperatorCase {
  std::string type;                               // ONNX operator type
  std::vector<std::optional<HostTensor>> inputs;  // nullopt: omitted
  Attributes attributes = {};
  std::set<size_t> constants = {};  // positions of the inputs that are constants of the graph
  // Inputs that repeat an earlier input, by their positions; both read one value. nullopt in `inputs`.
  std::map<size_t, size_t> same_as = {};
  int opset = 13;
  size_t output_count = 1;
  size_t most_outputs = SIZE_MAX;  // the most outputs of the graph; the node omits the others
  Activation activation = {};      // fused through with_activation()
  OperatorSweep sweep = {};
  std::shared_ptr<const Operator> op = nullptr;  // replaces `type`'s, for operators that ONNX does not have
};

// The graph of one node, whose inputs are the case's inputs without the constants. `round_to_half` rounds
// the constants to fp16. Throws Error where the operator takes no activation and the case has one.
Graph single_node_graph(const OperatorCase& test, bool round_to_half = false);

// A copy with float elements rounded to fp16. Tensors of other types are returned unchanged.
HostTensor rounded_to_half(const HostTensor& tensor);

}  // namespace vellum::test

// One call checks an operator's kernels against its host reference, in the combinations of its sweep.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "kernels/framework/lowering.hpp"
#include "support/operator_case.hpp"

namespace vellum::test {

// Runs the case on the test's device (gpu_test.hpp) in the combinations that test.sweep asks for and compares
// each output with Operator::evaluate(). passes/decompose replaces the operator first, if it does so for all
// models. For fp16 the reference gets inputs rounded to fp16. What a test runs depends on the tests of its
// suite before it: --gtest_filter=Conv.* repeats a failure, and so does VELLUM_TEST_FULL=1 with the test
// alone.
void check_operator(const OperatorCase& test);
// Chooses kernels as for a device of `caps`. The test's device must meet the limits in `caps`.
void check_operator(const OperatorCase& test, const DeviceCaps& caps);

// How check_candidates() runs a case.
struct CandidateOptions {
  Precision precision = Precision::fp32;
  StorageChoice storage = StorageChoice::buffer;
  std::string only = {};                          // only candidates whose names begin with this
  std::optional<DeviceCaps> caps = std::nullopt;  // replaces the device's
  uint32_t fold = 0;                              // columns of slices in images of two dimensions
};

// Runs the case once for each candidate of each choice that lowering makes, selected by a tuning table in
// which it is the fastest, and compares with the host reference. Inputs are in channels4 if the sweep has
// that layout. The sweep's other flags for layouts, precisions and arithmetic do not apply. Returns the names
// of the candidates, for all choices together. In each case of an operator in a test another eighth of them
// runs, and at least one; on SwiftShader one does in the first case of a suite (all with VELLUM_TEST_FULL).
std::vector<std::string> check_candidates(const OperatorCase& test, const CandidateOptions& options = {});

// The names of a choice's candidates, the least predicted cost first.
std::vector<std::string> candidate_names(const Choice& choice);

// Uniform in [low, high), the same for the same seed everywhere.
HostTensor random_tensor(Shape shape, uint32_t seed, float low = -1.0f, float high = 1.0f);
// Returns the largest |got - want| / max(1, |want|) of two tensors of fp32.
double largest_difference(const HostTensor& got, const HostTensor& want);

}  // namespace vellum::test

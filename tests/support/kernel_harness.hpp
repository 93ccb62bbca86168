// One call checks an operator's kernels against its host reference over storage, layout and precision.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "kernels/framework/lowering.hpp"
#include "support/operator_case.hpp"

namespace vellum::test {

// Runs the case, spelt out where passes/decompose does so, on the test's device (gpu_test.hpp) for every
// storage x input layout x precision and compares each output with Operator::evaluate(). For fp16 the
// reference sees inputs rounded to halves.
void check_operator(const OperatorCase& test);
// The same with kernels chosen as for a device of `caps`, whose limits the test's has.
void check_operator(const OperatorCase& test, const DeviceCaps& caps);

struct CandidateOptions {
  Precision precision = Precision::fp32;
  StorageChoice storage = StorageChoice::buffer;
  std::string only = {};                          // candidates whose names begin so
  std::optional<DeviceCaps> caps = std::nullopt;  // in place of the device's
};

// Runs the case, inputs in channels4 where it takes these, once for each candidate of each choice that is
// made for it, which a tuning table makes the quickest, and compares with the host reference. Returns the
// names of the candidates that were run, all choices together.
std::vector<std::string> check_candidates(const OperatorCase& test, const CandidateOptions& how = {});

// The names of a choice's candidates, the least predicted cost first.
std::vector<std::string> candidate_names(const Choice& choice);

// Uniform in [low, high), the same for the same seed everywhere.
HostTensor random_tensor(Shape shape, uint32_t seed, float low = -1.0f, float high = 1.0f);

}  // namespace vellum::test

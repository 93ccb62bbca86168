// Models, inputs and outputs that ONNX Runtime computed (tests/oracles), and the device that the tests run
// on.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "support/fetched_model.hpp"
#include "vellum/vellum.hpp"

namespace vellum::test {

// Over the elements of a tensor: |difference| / max(1, |wanted|).
struct Distance {
  double largest = 0;
  double root_mean_square = 0;
};

struct Reference {
  Model model;
  Decision decision;
  std::map<std::string, Tensor> inputs, outputs;  // by the model's own names
  // How far ONNX Runtime without its optimiser lies from ONNX Runtime with it: the same mathematics in fp32,
  // rounded in another order. Two correct engines may well lie that far apart. ONNX models only.
  std::map<std::string, Distance> rounding;
  // TFLite models: the distance accepted in fp32.
  std::map<std::string, Distance> tolerance;
};

Reference load_reference(const FetchedModel& which);
// The session options that give the model's inputs the shapes of the reference.
SessionOptions options_for(const Reference& reference);

// The device of the ctest entry, validated; any validation message is recorded and fails the test that asks
// for expect_no_validation_messages().
const Device& device();
void expect_no_validation_messages();

// Every element of every output lies within 1e-4 (fp32) or 2e-2 (fp16) of the reference, times max(1,
// |reference|), where the output is determined that well. Not all are: ONNX Runtime with and without its
// optimiser differ by 1.6e-3 in M-LSD's offsets, and fp16 rounds 2^13 times as coarsely as fp32. Where that
// difference, scaled to the precision, is coarser than the tolerance, up to three times as much is accepted,
// of the largest distance and of the root mean square alike. TFLite models, of which LiteRT has one rounding
// in the test data, are within 1e-3 in fp32, or three times as far as LiteRT with and without fused products
// (the table's `rounding`): then few elements are, and the root mean square is within a twentieth of that.
// The decision is the same in any case.
void expect_close(const std::map<std::string, Tensor>& got, const Reference& reference, Precision precision);

}  // namespace vellum::test

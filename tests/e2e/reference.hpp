// Models, inputs and what an independent engine computed (tests/oracles), and the device that the tests run
// on.
#pragma once

#include <map>
#include <string>

#include "support/fetched_model.hpp"
#include "vellum/vellum.hpp"

namespace vellum::test {

struct Reference {
  FetchedModel fetched;
  Model model;
  std::map<std::string, Tensor> inputs, outputs;  // by the model's own names
};

Reference load_reference(const FetchedModel& which);
// The session options that give the model's inputs the shapes of the reference.
SessionOptions options_for(const Reference& reference);

// The device of the ctest entry, validated; any validation message is recorded and fails the test that asks
// for expect_no_validation_messages().
const Device& device();
void expect_no_validation_messages();

// The decision is the same, and every output agrees with the reference as far as the precision determines it
// (support/agreement.hpp).
void expect_close(const std::map<std::string, Tensor>& got, const Reference& reference, Rounding rounding);

}  // namespace vellum::test

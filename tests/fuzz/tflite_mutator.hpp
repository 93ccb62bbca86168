// Changes TFLite models so that most of them still pass the format's verification.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace vellum {

// A model that differs in one to three places: operators and their options, connections, shapes, types,
// constants, quantisation. Empty if `model` is no valid TFLite file. Equal seeds change alike.
std::string mutated_tflite(std::string_view model, uint32_t seed);

}  // namespace vellum

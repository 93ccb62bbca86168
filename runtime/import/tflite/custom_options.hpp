// Options of custom operators that are FlexBuffers (https://flatbuffers.dev/flexbuffers/): a map from names
// to values.
#pragma once

#include <cstdint>
#include <vector>

#include "import/tflite/call.hpp"

namespace vellum::tflite {

class CustomOptions {
 public:
  explicit CustomOptions(const Call& call);

  bool has(const char* name) const;
  // These throw Error(corrupt_model) for an option that is missing or of another type.
  int64_t integer(const char* name) const;
  int64_t integer(const char* name, int64_t least, int64_t most) const;
  bool flag(const char* name) const;     // a boolean, or an integer that is 0 for false
  float number(const char* name) const;  // finite
  Ints integers(const char* name) const;

 private:
  std::vector<uint8_t> bytes_;  // verified
};

}  // namespace vellum::tflite

// Outputs that an independent engine computed from a photo (tests/models.json), for the samples to decode.
#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <string>
#include <vector>

#include "io/npy.hpp"

namespace vellum::samples {

inline std::filesystem::path test_data() {
  const char* folder = std::getenv("VELLUM_TEST_DATA");
  return folder ? folder : "VELLUM_TEST_DATA is not set; run through ctest";
}

inline std::vector<float> load_reference(const std::string& name, const std::string& file) {
  const io::NpyArray array = io::read_npy(test_data() / "references" / name / file);
  EXPECT_EQ(array.dtype, "float32");
  std::vector<float> values(array.data.size() / sizeof(float));
  std::memcpy(values.data(), array.data.data(), values.size() * sizeof(float));
  return values;
}

}  // namespace vellum::samples

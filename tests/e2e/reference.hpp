// Models, inputs and outputs that ONNX Runtime computed (tests/oracles), and the device that the tests run on.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "vellum/vellum.hpp"

namespace vellum::test {

struct ReferenceModel {
  std::string folder;  // under references/ of the test data
  std::string file;    // under models/
};

inline const ReferenceModel kBlazeFaceFront{"blazeface_front", "face_detection_front_128x128_barracuda.onnx"};
inline const ReferenceModel kBlazeFaceBack{"blazeface_back", "face_detection_back_256x256_barracuda.onnx"};
inline const ReferenceModel kMlsdTiny{"mlsd_tiny", "mlsd_320x320_tiny.onnx"};

struct Reference {
  Model model;
  std::map<std::string, Tensor> inputs, outputs;  // by the model's own names
};

Reference load_reference(const ReferenceModel& which);

// The device of the ctest entry, validated; any validation message is recorded and fails the test that asks for
// expect_no_validation_messages().
const Device& device();
void expect_no_validation_messages();

// |got - want| <= tolerance * max(1, |want|) for every element of every output.
void expect_close(const std::map<std::string, Tensor>& got, const std::map<std::string, Tensor>& want, double tolerance);

bool on_swiftshader();

}  // namespace vellum::test

// A renderer that exchanges images with Vellum: the network reads the rendered image, and writes the image
// that is shown.
#pragma once

#include <cstdint>
#include <string>

namespace vellum::samples {

// model: a file whose model has an image of three channels as its input, and a mask as its first output.
void run_images(const std::string& model, uint32_t frames);

}  // namespace vellum::samples

// The frames of a renderer as images: the network reads what was rendered, and writes what is shown.
#pragma once

#include <cstdint>
#include <string>

namespace vellum::samples {

// model: a file whose model has an image of three channels as its input, and a mask as its first output.
void run_images(const std::string& model, uint32_t frames);

}  // namespace vellum::samples

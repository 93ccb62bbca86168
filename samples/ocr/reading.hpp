// Reads a line of text: makes the input strip of PP-OCR's recognition network, and decodes its output.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "io/file_name.hpp"
#include "io/image.hpp"
#include "ocr/text_lines.hpp"

namespace vellum::samples {

// Returns the region of a line, rotated upright: [3][height][width], blue, green, red (the order that PP-OCR
// was trained on) in -1..1; zero to the right of the text if the line is shorter than `width`. The line's
// corners are in pixels of the image.
std::vector<float> line_strip(const io::Image& image, const TextLine& line, int width, int height);

// Reads the characters of the network's classes: 0 is "none", then the lines of the file, then the space.
// Throws vellum::Error (not_found, io).
std::vector<std::string> read_characters(const io::FileName& file);

struct ReadText {
  std::string text;      // UTF-8
  float confidence = 0;  // mean probability of its characters, 0..1
};

// Decodes the output: the most likely class of every step, with repetitions merged and "none" dropped
// (connectionist temporal classification, Graves et al. 2006). probabilities: [steps][classes]. Throws
// vellum::Error (invalid_argument) if the number of classes differs from that of the characters.
ReadText spell(std::span<const float> probabilities, std::size_t classes,
               const std::vector<std::string>& characters);

}  // namespace vellum::samples

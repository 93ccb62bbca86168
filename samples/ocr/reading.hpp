// From a line of text in a photo to its characters: the strip that PP-OCR's recognition network reads, and
// what its output spells.
#pragma once

#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "common/image.hpp"
#include "ocr/text_lines.hpp"

namespace vellum::samples {

// The line cut out of the image, turned upright: [3][height][width], blue, green, red (the order that PP-OCR
// was trained on) in -1..1; zero right of the text where `width` is wider than the line. The corners are in
// pixels of the image.
std::vector<float> line_strip(const Image& image, const TextLine& line, int width, int height);

// The characters that the network's classes stand for: 0 is "none", then the lines of the file, then the
// space. Throws vellum::Error (not_found, io).
std::vector<std::string> read_characters(const std::filesystem::path& path);

struct ReadText {
  std::string text;      // UTF-8
  float confidence = 0;  // mean probability of its characters, 0..1
};

// probabilities: [steps][classes]. The likeliest class of every step, repetitions merged and "none" dropped
// (connectionist temporal classification, Graves et al. 2006). Throws vellum::Error (invalid_argument) when
// the classes are not the file's characters.
ReadText spell(std::span<const float> probabilities, std::size_t classes,
               const std::vector<std::string>& characters);

}  // namespace vellum::samples

// Captions on an image, in the small font of stb_easy_font. ASCII alone: other characters are drawn as '?'.
#pragma once

#include <string>

#include "common/draw.hpp"
#include "common/image.hpp"

namespace vellum::samples {

// `scale` pixels for a pixel of the font, whose lines are 12 high. What lies outside the image is left out.
void draw_text(Image& image, int left, int top, const std::string& text, Color color, int scale);

// Width in pixels of the text drawn at that scale.
int text_width(const std::string& text, int scale);

// The text on a filled box that keeps it readable on any picture.
void draw_caption(Image& image, int left, int top, const std::string& text, Color text_color, Color box_color,
                  int scale);

}  // namespace vellum::samples

// Draws text on an image, in the small font of stb_easy_font. ASCII only: other characters are drawn as '?'.
#pragma once

#include <string>

#include "common/draw.hpp"
#include "io/image.hpp"

namespace vellum::samples {

// Draws text, clipped to the image. A pixel of the font is `scale` pixels; its lines are 12 pixels high.
void draw_text(io::Image& image, int left, int top, const std::string& text, Color color, int scale);

// Returns the width of the text at that scale, in pixels.
int text_width(const std::string& text, int scale);

// Draws text on a filled box, which keeps it readable on any picture.
void draw_caption(io::Image& image, int left, int top, const std::string& text, Color text_color,
                  Color box_color, int scale);

}  // namespace vellum::samples

#include "vellum/error.hpp"

#include <algorithm>
#include <string_view>

namespace vellum {
namespace {

constexpr size_t kLongestMessage = 2000;

// The further bytes of a character are 10xxxxxx in UTF-8.
bool begins_character(char c) { return (static_cast<unsigned char>(c) & 0xc0) != 0x80; }

// A name comes from a file, and a file may call anything anyhow.
std::string one_line(std::string text) {
  std::ranges::replace_if(
      text, [](char c) { return static_cast<unsigned char>(c) < ' ' || c == 0x7f; }, ' ');
  if (text.size() <= kLongestMessage) return text;
  constexpr std::string_view kLeftOut = " ... ";
  size_t end = kLongestMessage / 2, begin = text.size() - kLongestMessage / 2 + kLeftOut.size();
  while (end > 0 && !begins_character(text[end])) --end;
  while (begin < text.size() && !begins_character(text[begin])) ++begin;
  return text.substr(0, end).append(kLeftOut).append(text, begin);
}

}  // namespace

Error::Error(ErrorCode code, const std::string& message)
    : std::runtime_error(one_line(message)), code_(code) {}

const char* to_string(ErrorCode code) noexcept {
  switch (code) {
    case ErrorCode::invalid_argument:
      return "invalid argument";
    case ErrorCode::not_found:
      return "not found";
    case ErrorCode::io:
      return "input/output error";
    case ErrorCode::corrupt_model:
      return "corrupt model";
    case ErrorCode::unsupported:
      return "unsupported";
    case ErrorCode::no_device:
      return "no device";
    case ErrorCode::out_of_memory:
      return "out of memory";
    case ErrorCode::device_lost:
      return "device lost";
    case ErrorCode::internal:
      return "internal error";
    case ErrorCode::cancelled:
      return "cancelled";
  }
  return "unknown error";
}

}  // namespace vellum

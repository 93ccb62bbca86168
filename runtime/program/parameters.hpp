// The C++ side of shaders/common/parameters.h: the parameters of a shader as a struct and as bytes.
#pragma once

#include <array>
#include <bit>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace vellum {

// Throws Error(unsupported) if the value does not fit.
int32_t checked_int32(int64_t value);

// None of these types has a default constructor, so that a field without a value is a compile error.
class int32 {
 public:
  template <std::integral T>
  int32(T value) : value_(checked_int32(static_cast<int64_t>(value))) {}

 private:
  int32_t value_;
};

class float32 {
 public:
  float32(float value) : value_(value) {}

 private:
  float value_;
};

struct ivec2 {
  int32 x, y;
};
struct ivec4 {
  int32 x, y, z, w;
};
struct vec4 {
  float32 x, y, z, w;
};

// Copies the values and pads them with zeros. Throws Error(internal) if there are too many values.
void copy_padded(std::span<const int64_t> values, std::span<int32_t> to);

template <size_t n>
class IntArray {
 public:
  IntArray(std::span<const int64_t> values) { copy_padded(values, values_); }
  IntArray(const std::vector<int64_t>& values) : IntArray(std::span(values)) {}
  static constexpr size_t size() { return n; }

 private:
  std::array<int32_t, n> values_;
};

#define BEGIN_PARAMETERS(block)                                                    \
  namespace vellum {                                                               \
  struct block;                                                                    \
  constexpr std::string_view parameter_block_name(const block*) { return #block; } \
  struct block {
#define END_PARAMETERS \
  }                    \
  ;                    \
  }
#define INTS(n) IntArray<n>

template <typename T>
concept ParameterBlock = requires(const T* block) {
  { parameter_block_name(block) } -> std::same_as<std::string_view>;
};

// The parameters of a dispatch: the bytes of a parameter block, and the block's name in the shader.
class Parameters {
 public:
  Parameters() = default;
  template <ParameterBlock T>
  Parameters(const T& block) : block_(parameter_block_name(&block)), bytes_(sizeof(T)) {
    static_assert(std::is_trivially_copyable_v<T> && std::is_standard_layout_v<T>);
    static_assert(alignof(T) == 4, "no padding, whose bytes would be undefined");
    static_assert(sizeof(T) <= 128, "what every Vulkan device has room for (maxPushConstantsSize)");
    std::memcpy(bytes_.data(), &block, sizeof(T));
  }

  // Appends a field that the shader's block gets by the macro APPENDED_PARAMETERS.
  void append(uint32_t bits) {
    const auto bytes = std::bit_cast<std::array<std::byte, sizeof(bits)>>(bits);
    bytes_.insert(bytes_.end(), bytes.begin(), bytes.end());
  }

  std::string_view block() const { return block_; }
  std::span<const std::byte> bytes() const { return bytes_; }

 private:
  std::string_view block_;
  std::vector<std::byte> bytes_;
};

}  // namespace vellum

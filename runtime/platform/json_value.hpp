// A JSON document as a plain value. Unlike the value of the JSON library its destructor allocates nothing, so
// that the process survives when memory runs out.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace vellum::platform {

class JsonValue {
 public:
  using Array = std::vector<JsonValue>;
  using Object = std::vector<std::pair<std::string, JsonValue>>;  // sorted by key if parsed

  JsonValue() = default;  // null
  JsonValue(bool value) : value_(value) {}
  JsonValue(uint64_t value) : value_(value) {}
  JsonValue(uint32_t value) : value_(uint64_t{value}) {}
  JsonValue(uint8_t value) : value_(uint64_t{value}) {}
  JsonValue(double value) : value_(value) {}
  JsonValue(std::string value) : value_(std::move(value)) {}
  JsonValue(const char* value) : value_(std::string(value)) {}
  JsonValue(Array value) : value_(std::move(value)) {}
  JsonValue(Object value) : value_(std::move(value)) {}

  // Returns nothing if the text is no JSON, or is nested deeper than any file of Vellum. If a key occurs
  // twice, the last value is kept.
  static std::optional<JsonValue> parse(std::string_view text);
  // Returns the text, indented by this number of spaces. Bytes that are no UTF-8 are replaced.
  std::string text(size_t indent) const;

  // Return null if the value is of another type.
  bool is_null() const { return std::holds_alternative<std::nullptr_t>(value_); }
  const bool* boolean() const { return std::get_if<bool>(&value_); }
  const uint64_t* whole_number() const { return std::get_if<uint64_t>(&value_); }
  const std::string* string() const { return std::get_if<std::string>(&value_); }
  const Array* array() const { return std::get_if<Array>(&value_); }
  const Object* object() const { return std::get_if<Object>(&value_); }
  // Returns any kind of number.
  std::optional<double> number() const;
  // Returns the value of a key; null if there is none, or if this is no object.
  const JsonValue* find(std::string_view key) const;

 private:
  friend class JsonReader;
  void append_text(std::string& text, size_t indent, size_t depth) const;

  std::variant<std::nullptr_t, bool, uint64_t, int64_t, double, std::string, Array, Object> value_;
};

}  // namespace vellum::platform

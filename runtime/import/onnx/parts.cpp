#include "import/onnx/parts.hpp"

#include <algorithm>
#include <iterator>
#include <optional>

namespace vellum::onnx {
namespace {

// Iterates over the fields of a message: https://protobuf.dev/programming-guides/encoding/
class Fields {
 public:
  explicit Fields(std::span<const std::byte> message) : rest_(message) {}

  struct Field {
    uint64_t number;
    bool has_bytes;                    // a message, a text, or a list of numbers
    std::span<const std::byte> bytes;  // of these
  };

  // Nothing at the end, and where the bytes are no message.
  std::optional<Field> next() {
    const std::optional<uint64_t> tag = varint();
    if (!tag) return std::nullopt;
    Field field{*tag >> 3, false, {}};
    switch (*tag & 7) {
      case 0:
        if (!varint()) return std::nullopt;
        return field;
      case 1:
        return take(8) ? std::optional(field) : std::nullopt;
      case 2: {
        const std::optional<uint64_t> length = varint();
        if (!length || *length > rest_.size()) return std::nullopt;
        field.has_bytes = true;
        field.bytes = rest_.first(static_cast<size_t>(*length));
        rest_ = rest_.subspan(field.bytes.size());
        return field;
      }
      case 5:
        return take(4) ? std::optional(field) : std::nullopt;
      default:
        return std::nullopt;  // groups, which ONNX does not have
    }
  }

 private:
  std::optional<uint64_t> varint() {
    uint64_t value = 0;
    for (unsigned shift = 0; shift < 64 && !rest_.empty(); shift += 7) {
      const auto byte = std::to_integer<uint64_t>(rest_.front());
      rest_ = rest_.subspan(1);
      value |= (byte & 0x7f) << shift;
      if (byte < 0x80) return value;
    }
    return std::nullopt;
  }

  bool take(size_t bytes) {
    if (rest_.size() < bytes) return false;
    rest_ = rest_.subspan(bytes);
    return true;
  }

  std::span<const std::byte> rest_;
};

constexpr int kDeepest = 100;  // messages within messages, as protobuf reads them

enum class Message : uint8_t {
  other,
  model,
  function,
  graph,
  node,
  attribute,
  tensor,
  value,
  type,
  tensor_type,
  shape
};

// The messages of onnx.proto that hold further ones.
constexpr struct {
  Message outer;
  uint64_t field;
  Message inner;
} kNested[] = {
    {Message::model, 7, Message::graph},      {Message::graph, 1, Message::node},
    {Message::model, 25, Message::function},  {Message::function, 7, Message::node},
    {Message::graph, 5, Message::tensor},     {Message::graph, 11, Message::value},
    {Message::graph, 12, Message::value},     {Message::graph, 13, Message::value},
    {Message::node, 5, Message::attribute},   {Message::attribute, 5, Message::tensor},
    {Message::attribute, 6, Message::graph},  {Message::attribute, 10, Message::tensor},
    {Message::attribute, 11, Message::graph}, {Message::value, 2, Message::type},
    {Message::type, 1, Message::tensor_type}, {Message::tensor_type, 2, Message::shape},
};

Message message_of(Message outer, uint64_t field) {
  const auto* const found = std::ranges::find_if(
      kNested, [&](const auto& nested) { return nested.outer == outer && nested.field == field; });
  return found == std::end(kNested) ? Message::other : found->inner;
}

// NOLINTNEXTLINE(misc-no-recursion): as deep as protobuf reads
uint64_t count(Message message, std::span<const std::byte> bytes, int depth) {
  uint64_t parts = 0;
  Fields fields(bytes);
  while (const auto field = fields.next()) {
    if (!field->has_bytes) continue;
    ++parts;
    const Message inner = message_of(message, field->number);
    if (inner != Message::other && depth < kDeepest) parts += count(inner, field->bytes, depth + 1);
  }
  return parts;
}

}  // namespace

uint64_t count_parts(std::span<const std::byte> model) { return count(Message::model, model, 0); }

std::vector<std::string_view> unknown_messages(std::string_view unknown_fields, uint64_t number) {
  std::vector<std::string_view> messages;
  Fields fields(std::as_bytes(std::span(unknown_fields)));
  while (const auto field = fields.next())
    if (field->number == number && field->has_bytes)
      messages.emplace_back(reinterpret_cast<const char*>(field->bytes.data()), field->bytes.size());
  return messages;
}

}  // namespace vellum::onnx

#include "platform/json_value.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>

namespace vellum::platform {

namespace {

using nlohmann::json;

constexpr size_t kDeepest = 32;

// Sorts the keys and keeps the last value of each.
void sort_keys(JsonValue::Object& object) {
  std::stable_sort(object.begin(), object.end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });
  const auto last = std::unique(object.rbegin(), object.rend(),
                                [](const auto& a, const auto& b) { return a.first == b.first; });
  object.erase(object.begin(), last.base());
}

}  // namespace

// Builds the value from the parser's events.
class JsonReader : public nlohmann::json_sax<json> {
 public:
  bool null() override { return add({}); }
  bool boolean(bool value) override { return add(value); }
  bool number_unsigned(number_unsigned_t value) override { return add(uint64_t{value}); }
  bool number_integer(number_integer_t value) override {
    JsonValue number;
    number.value_ = int64_t{value};
    return add(std::move(number));
  }
  bool number_float(number_float_t value, const string_t&) override { return add(value); }
  bool string(string_t& value) override { return add(std::move(value)); }
  bool binary(binary_t&) override { return false; }
  bool start_object(size_t) override { return open(JsonValue::Object()); }
  bool start_array(size_t) override { return open(JsonValue::Array()); }
  bool key(string_t& value) override {
    open_.back().key = std::move(value);
    return true;
  }
  bool end_object() override { return close(); }
  bool end_array() override { return close(); }
  bool parse_error(size_t, const std::string&, const nlohmann::detail::exception&) override { return false; }

  JsonValue take() { return std::move(root_); }

 private:
  struct Open {
    JsonValue value;
    std::string key;  // of its next entry
  };

  bool open(JsonValue value) {
    if (open_.size() == kDeepest) return false;
    open_.push_back({std::move(value), {}});
    return true;
  }
  bool close() {
    JsonValue value = std::move(open_.back().value);
    open_.pop_back();
    if (auto* object = std::get_if<JsonValue::Object>(&value.value_)) sort_keys(*object);
    return add(std::move(value));
  }
  bool add(JsonValue value) {
    if (open_.empty()) {
      root_ = std::move(value);
      return true;
    }
    Open& parent = open_.back();
    if (auto* array = std::get_if<JsonValue::Array>(&parent.value.value_))
      array->push_back(std::move(value));
    else
      std::get<JsonValue::Object>(parent.value.value_).emplace_back(std::move(parent.key), std::move(value));
    return true;
  }

  JsonValue root_;
  std::vector<Open> open_;
};

std::optional<JsonValue> JsonValue::parse(std::string_view text) {
  JsonReader reader;
  if (!json::sax_parse(text, &reader)) return std::nullopt;
  return reader.take();
}

std::optional<double> JsonValue::number() const {
  if (const auto* value = std::get_if<double>(&value_)) return *value;
  if (const auto* value = std::get_if<uint64_t>(&value_)) return static_cast<double>(*value);
  if (const auto* value = std::get_if<int64_t>(&value_)) return static_cast<double>(*value);
  return std::nullopt;
}

const JsonValue* JsonValue::find(std::string_view key) const {
  const Object* entries = object();
  if (!entries) return nullptr;
  const auto found =
      std::find_if(entries->begin(), entries->end(), [&](const auto& entry) { return entry.first == key; });
  return found == entries->end() ? nullptr : &found->second;
}

std::string JsonValue::text(size_t indent) const {
  std::string text;
  append_text(text, indent, 0);
  return text;
}

namespace {

// `leaf` is a number or a string, which needs no memory when it is destroyed.
std::string text_of(const json& leaf) { return leaf.dump(-1, ' ', false, json::error_handler_t::replace); }

}  // namespace

void JsonValue::append_text(std::string& text, size_t indent, size_t depth) const {
  const auto append_list = [&](char begin, const auto& entries, char end, auto&& append_entry) {
    text += begin;
    bool first = true;
    for (const auto& entry : entries) {
      text += first ? "\n" : ",\n";
      text.append(indent * (depth + 1), ' ');
      append_entry(entry);
      first = false;
    }
    if (!entries.empty()) text.append("\n").append(indent * depth, ' ');
    text += end;
  };
  const auto append_value = [&](const JsonValue& value) { value.append_text(text, indent, depth + 1); };
  std::visit(
      [&](const auto& value) {
        using Type = std::decay_t<decltype(value)>;
        if constexpr (std::is_same_v<Type, Array>) {
          append_list('[', value, ']', append_value);
        } else if constexpr (std::is_same_v<Type, Object>) {
          append_list('{', value, '}', [&](const auto& entry) {
            text.append(text_of(json(entry.first))).append(": ");
            append_value(entry.second);
          });
        } else {
          text += text_of(json(value));
        }
      },
      value_);
}

}  // namespace vellum::platform

#include <array>
#include <cmath>
#include <nlohmann/json.hpp>
#include <span>
#include <string_view>

#include "platform/sha256.hpp"
#include "vellum/error.hpp"
#include "vellum/report.hpp"

namespace vellum {

std::string_view report_page_file(std::string_view file);  // generated: the files of page/

namespace {

using nlohmann::json;

json number_or_null(double value) { return std::isfinite(value) ? json(value) : json(nullptr); }

std::string joined(const auto& dimensions) {
  std::string text;
  for (const auto dimension : dimensions) text += (text.empty() ? "" : "x") + std::to_string(dimension);
  return text;
}

std::string object_label(const ObjectReport& object) {
  if (object.kind == "buffer") return object.kind;
  const size_t rank = object.kind == "image3d" ? 3 : 2;
  return object.kind + " " + joined(std::span(object.extent).first(rank)) + " " + object.format;
}

// Exporters put long paths before names; inside a rectangle there is room for the end alone: "conv2d_3/Relu".
std::string last_parts(const std::string& name) {
  size_t begin = name.size();
  for (int part = 0; part < 2 && begin != std::string::npos && begin > 0; ++part)
    begin = name.rfind('/', begin - 1);
  return begin == std::string::npos || begin + 1 >= name.size() ? name : name.substr(begin + 1);
}

json tasks_json(const std::vector<LayerTime>& layers) {
  json tasks = json::array();
  for (const LayerTime& layer : layers)
    tasks.push_back({{"name", layer.name},
                     {"op", layer.op},
                     {"shader", layer.shader},
                     {"storage", layer.storage},
                     {"groups", layer.shader.empty() ? std::string() : joined(layer.workgroups)},
                     {"ms", number_or_null(layer.gpu_ms)}});
  return tasks;
}

// Objects one above the other; a tensor's address is its object's and its place in it.
json memory_json(const MemoryReport& memory) {
  json objects = json::array(), tensors = json::array();
  std::vector<uint64_t> bases;
  uint64_t base = 0;
  for (const ObjectReport& object : memory.objects) {
    bases.push_back(base);
    objects.push_back({{"id", object.id},
                       {"label", object_label(object)},
                       {"bytes", object.bytes},
                       {"base", base},
                       {"reuse", object.reuse_count}});
    base += object.bytes;
  }
  for (const TensorReport& tensor : memory.tensors) {
    if (tensor.object >= bases.size() || tensor.first_task < 0 || tensor.last_task < tensor.first_task)
      throw Error(ErrorCode::invalid_argument,
                  "the report's tensor '" + tensor.name + "' has no object or no lifetime");
    tensors.push_back({{"name", tensor.name},
                       {"short", last_parts(tensor.name)},
                       {"op", tensor.op},
                       {"role", tensor.role},
                       {"shape", joined(tensor.shape)},
                       {"object", tensor.object},
                       {"address", bases[tensor.object] + tensor.offset},
                       {"first", tensor.first_task},
                       {"last", tensor.last_task},
                       {"bytes", tensor.bytes}});
  }
  return {{"objects", objects}, {"tensors", tensors}};
}

json categories_json(const MemoryReport& memory) {
  return json::array(
      {{{"name", "weights"}, {"bytes", memory.weights_bytes}, {"hint", "as packed for the kernels"}},
       {{"name", "intermediates"}, {"bytes", memory.allocated_bytes}, {"hint", "with workspace"}},
       {{"name", "inputs, outputs"}, {"bytes", memory.in_out_bytes}, {"hint", "host-visible"}}});
}

// JSON inside <script>: what could end the element or begin a comment is written as an escape, which means
// the same to JSON (HTML Living Standard, 4.12.1.3 "Restrictions for contents of script elements"). Names may
// be no UTF-8.
std::string embedded_json(const json& document) {
  const std::string plain = document.dump(-1, ' ', true, json::error_handler_t::replace);
  std::string text;
  text.reserve(plain.size());
  for (const char c : plain) {
    if (c == '<')
      text += "\\u003c";
    else if (c == '>')
      text += "\\u003e";
    else if (c == '&')
      text += "\\u0026";
    else
      text += c;
  }
  return text;
}

std::string base64(std::span<const uint8_t> bytes) {
  constexpr std::string_view digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string text;
  for (size_t i = 0; i < bytes.size(); i += 3) {
    uint32_t bits = 0;
    for (size_t k = 0; k < 3; ++k) bits = bits << 8 | (i + k < bytes.size() ? bytes[i + k] : 0u);
    for (size_t k = 0; k < 4; ++k) text += k <= bytes.size() - i ? digits[bits >> (18 - 6 * k) & 63] : '=';
  }
  return text;
}

std::string script() {
  std::string text = "\"use strict\";\n(() => {\n";
  for (const char* file : {"format.js", "model.js", "chart.js", "map.js", "tasks.js", "table.js", "main.js"})
    text += report_page_file(file);
  return text + "})();\n";
}

// Each mark once, from left to right, so that nothing in a value is taken for a mark.
std::string fill(std::string_view page, std::span<const std::pair<std::string_view, std::string>> values) {
  std::string text;
  for (const auto& [mark, value] : values) {
    const size_t at = page.find(mark);
    if (at == std::string_view::npos)
      throw Error(ErrorCode::internal, "the report page lacks " + std::string(mark));
    text.append(page.substr(0, at)).append(value);
    page.remove_prefix(at + mark.size());
  }
  return text.append(page);
}

}  // namespace

std::string profile_html(const ProfileReport& report) {
  json document = memory_json(report.memory);
  document["model"] = report.model;
  document["subtitle"] = report.subtitle;
  document["tasks"] = tasks_json(report.layers);
  document["categories"] = categories_json(report.memory);
  document["totals"] = {{"naive", report.memory.naive_bytes},
                        {"planned", report.memory.planned_bytes},
                        {"bound", report.memory.lower_bound_bytes},
                        {"allocated", report.memory.allocated_bytes}};
  const std::string code = script();
  // Only this script may run, whatever else might get into the page (Content Security Policy Level 3, 8.3).
  const std::string hash = "sha256-" + base64(platform::sha256(std::as_bytes(std::span(code))));
  const std::array<std::pair<std::string_view, std::string>, 5> values{
      {{"@SCRIPT_HASH@", hash},
       {"@TITLE@", "Vellum profile"},
       {"@STYLE@", std::string(report_page_file("style.css"))},
       {"@DATA@", embedded_json(document)},
       {"@SCRIPT@", code}}};
  return fill(report_page_file("page.html"), values);
}

}  // namespace vellum

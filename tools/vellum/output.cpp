#include "output.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iostream>
#include <nlohmann/json.hpp>

#include "io/terminal.hpp"

namespace vellum::cli {

std::string one_line(std::string_view text) {
  std::string line(text);
  for (char& c : line)
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) c = ' ';
  return line;
}

std::string grouped(uint64_t number) {
  std::string digits = std::to_string(number);
  for (size_t i = digits.size(); i > 3; i -= 3) digits.insert(i - 3, 1, ',');
  return digits;
}

std::string milliseconds(double value) { return std::isnan(value) ? "-" : fmt::format("{:.3f} ms", value); }

std::string shortened(const std::string& text, size_t length) {
  return text.size() <= length ? text : text.substr(0, length - 3) + "...";
}

std::string ending(const std::string& text, size_t length) {
  return text.size() <= length ? text : "..." + text.substr(text.size() - (length - 3));
}

size_t common_path(const std::vector<std::string>& names) {
  if (names.empty()) return 0;
  size_t length = names.front().size();
  for (const std::string& name : names) {
    const auto differ =
        std::mismatch(name.begin(), name.end(), names.front().begin(), names.front().end()).first;
    length = std::min(length, static_cast<size_t>(differ - name.begin()));
  }
  return length == 0 ? 0 : names.front().rfind('/', length - 1) + 1;
}

void Table::column(std::string title, Align align) {
  titles_.push_back(std::move(title));
  aligns_.push_back(align);
}

void Table::row(std::vector<std::string> cells) {
  cells.resize(titles_.size());
  for (std::string& cell : cells) cell = one_line(cell);
  rows_.push_back(std::move(cells));
}

std::string Table::text() const {
  std::vector<size_t> widths;
  for (size_t c = 0; c < titles_.size(); ++c) {
    widths.push_back(titles_[c].size());
    for (const auto& row : rows_) widths[c] = std::max(widths[c], row[c].size());
  }
  std::string text;
  const auto append = [&](const std::vector<std::string>& cells) {
    std::string line;
    for (size_t c = 0; c < cells.size(); ++c)
      line += aligns_[c] == Align::right ? fmt::format("{:>{}}  ", cells[c], widths[c])
                                         : fmt::format("{:<{}}  ", cells[c], widths[c]);
    line.erase(line.find_last_not_of(' ') + 1);
    text += line + '\n';
  };
  append(titles_);
  for (const auto& row : rows_) append(row);
  return text;
}

void print(std::string_view text) {
  std::cout << text << std::flush;
  if (!std::cout) throw Error(ErrorCode::io, "the output cannot be written");
}

void print_json(const nlohmann::json& document) {
  // Names come from model files, which may hold anything: what is no UTF-8 is replaced.
  print(document.dump(1, ' ', false, nlohmann::json::error_handler_t::replace) + "\n");
}

void print_json_line(const nlohmann::json& document) {
  print(document.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace) + "\n");
}

void print_warnings(const std::vector<std::string>& warnings) {
  for (const std::string& warning : warnings) std::cerr << "vellum: warning: " + one_line(warning) + "\n";
}

nlohmann::json tensor_infos_json(const std::vector<TensorInfo>& tensors) {
  nlohmann::json list = nlohmann::json::array();
  for (const TensorInfo& tensor : tensors) {
    list.push_back({{"name", tensor.name}, {"dtype", name(tensor.dtype)}, {"shape", tensor.shape}});
    if (tensor.decides_shapes) list.back()["decides_shapes"] = true;
    if (tensor.initial_value) list.back()["variable"] = true;
    if (!tensor.signature_name.empty()) list.back()["signature_name"] = tensor.signature_name;
  }
  return list;
}

nlohmann::json milliseconds_json(double value) {
  return std::isnan(value) ? nlohmann::json(nullptr) : nlohmann::json(value);
}

ProgressLine::ProgressLine() : enabled_(io::stderr_is_terminal()) {}

ProgressLine::~ProgressLine() {
  if (shown_ > 0) std::cerr << '\r' << std::string(shown_, ' ') << '\r' << std::flush;
}

void ProgressLine::show(const std::string& text) {
  if (!enabled_) return;
  const std::string line = shortened(one_line(text), 100);
  std::cerr << '\r' << line << std::string(shown_ > line.size() ? shown_ - line.size() : 0, ' ')
            << std::flush;
  shown_ = line.size();
}

Progress::Progress(std::string label) : label_(std::move(label)) {}

void Progress::show(size_t done, size_t total) {
  line_.show(total ? fmt::format("{} {}/{}", label_, done, total) : fmt::format("{} {}", label_, done));
}

}  // namespace vellum::cli

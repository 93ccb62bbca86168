// The tool's output: tables for people, one JSON document for programs, progress on terminals.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "vellum/vellum.hpp"

namespace vellum::cli {

// Replaces control characters by spaces: an error is one line, but names in it come from model files.
std::string one_line(std::string_view text);
// "12,345,678"
std::string grouped(uint64_t number);
// "1.25 ms"; "-" if the device has no timestamps.
std::string milliseconds(double value);
// Shorten a text to at most `length` characters, with dots at the end or at the front.
std::string shortened(const std::string& text, size_t length);
std::string ending(const std::string& text, size_t length);
// Returns the length of the common prefix of all names, up to a '/': exporters prefix every tensor's name
// with the model's.
size_t common_path(const std::vector<std::string>& names);

// A table. Columns are as wide as their widest cell; columns of numbers are right-aligned.
class Table {
 public:
  enum class Align : uint8_t { left, right };
  void column(std::string title, Align align = Align::left);
  void row(std::vector<std::string> cells);
  std::string text() const;

 private:
  std::vector<std::string> titles_;
  std::vector<Align> aligns_;
  std::vector<std::vector<std::string>> rows_;
};

// Writes to stdout. Throws Error(io) if that fails, e.g. on a full disk.
void print(std::string_view text);
void print_json(const nlohmann::json& document);
// Writes the document as one line.
void print_json_line(const nlohmann::json& document);
// Writes one line to stderr for each warning.
void print_warnings(const std::vector<std::string>& warnings);

nlohmann::json tensor_infos_json(const std::vector<TensorInfo>& tensors);
// JSON null if there is no time.
nlohmann::json milliseconds_json(double value);

// A progress line on stderr, if that is a terminal. Each line overwrites the previous one; the destructor
// erases it.
class ProgressLine {
 public:
  ProgressLine();
  ~ProgressLine();
  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;
  void show(const std::string& text);

 private:
  bool enabled_;
  size_t shown_ = 0;  // length of the shown line
};

// A progress line of a label and a count: "bench 12/50".
class Progress {
 public:
  explicit Progress(std::string label);
  void show(size_t done, size_t total);

 private:
  std::string label_;
  ProgressLine line_;
};

}  // namespace vellum::cli

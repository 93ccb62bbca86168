// How the tool writes: tables for people, one JSON document for programs, progress for those who wait.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "vellum/vellum.hpp"

namespace vellum::cli {

// Control characters become spaces: model files choose names, and an error is one line.
std::string one_line(std::string_view text);
// "12,345,678"
std::string grouped(uint64_t number);
// "1.25 ms"; "-" where a device has no such time.
std::string milliseconds(double value);
// At most `length` characters, with dots for those left out at the end, or at the front.
std::string shortened(const std::string& text, size_t length);
std::string ending(const std::string& text, size_t length);
// How many characters all names begin with, up to a '/': exporters put a model's name before every tensor's.
size_t common_path(const std::vector<std::string>& names);

// Columns as wide as their widest cell. Cells of right-aligned columns are numbers.
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

// Writes to stdout; throws Error(io) when that fails, as on a full disk.
void print(std::string_view text);
void print_json(const nlohmann::json& document);
// A line on stderr for each.
void print_warnings(const std::vector<std::string>& warnings);

nlohmann::json tensor_infos_json(const std::vector<TensorInfo>& tensors);
// null where there is no time.
nlohmann::json milliseconds_json(double value);

// A line on stderr, if that is a terminal, over the one shown before; none is left when it dies.
class ProgressLine {
 public:
  ProgressLine();
  ~ProgressLine();
  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;
  void show(const std::string& text);

 private:
  bool enabled_;
  size_t shown_ = 0;  // bytes
};

// "bench 12/50" as such a line.
class Progress {
 public:
  explicit Progress(std::string label);
  void show(size_t done, size_t total);

 private:
  std::string label_;
  ProgressLine line_;
};

}  // namespace vellum::cli

#include "vellum/planner/memory_map.hpp"

#include <algorithm>
#include <cstdio>
#include <string_view>
#include <vector>

#include "vellum/planner/svg.hpp"

namespace vellum::planner {
namespace {

constexpr double kWidth = 1000, kHeight = 440, kLeft = 96, kTop = 44, kBottom = 66;

std::string readable_bytes(uint64_t bytes) {
  char text[48];
  if (bytes >= uint64_t{1} << 20)
    std::snprintf(text, sizeof text, "%.2f MiB", static_cast<double>(bytes) / (1 << 20));
  else if (bytes >= 1024)
    std::snprintf(text, sizeof text, "%.1f KiB", static_cast<double>(bytes) / 1024);
  else
    std::snprintf(text, sizeof text, "%u B", static_cast<unsigned>(bytes));
  return text;
}

// "1 MiB" for a round number of units, for the axis.
std::string tick_label(uint64_t bytes) {
  if (bytes != 0 && bytes % (uint64_t{1} << 20) == 0) return std::to_string(bytes >> 20) + " MiB";
  if (bytes != 0 && bytes % 1024 == 0) return std::to_string(bytes >> 10) + " KiB";
  return bytes == 0 ? "0" : readable_bytes(bytes);
}

// Returns a power of two that divides the axis into four to eight steps.
uint64_t address_step(uint64_t total) {
  uint64_t step = 1;
  while (total / step > 8) step *= 2;
  return step;
}

// 1, 2 or 5 times a power of ten: at most ten steps.
int64_t task_step(int64_t tasks) {
  for (int64_t power = 1;; power *= 10)
    for (const int64_t factor : {1, 2, 5})
      if (tasks / (factor * power) <= 10 || power > tasks) return factor * power;
}

// Names may be UTF-8: a cut must not leave part of a character.
std::string cut_front(std::string_view name, size_t length) {
  if (name.size() <= length) return std::string(name);
  size_t begin = name.size() - length;
  while (begin < name.size() && (static_cast<unsigned char>(name[begin]) & 0xC0) == 0x80) ++begin;
  return "\u2026" + std::string(name.substr(begin));
}

std::string cut_end(std::string_view name, size_t length) {
  if (name.size() <= length) return std::string(name);
  while (length > 0 && (static_cast<unsigned char>(name[length]) & 0xC0) == 0x80) --length;
  return std::string(name.substr(0, length)) + "\u2026";
}

class Drawing {
 public:
  Drawing(const MemoryMap& map, std::span<const std::string> names, const std::string& title)
      : map_(map), names_(names) {
    if (!map.tensors.empty()) {
      begin_ = map.tensors[0].first_task;
      end_ = map.tensors[0].last_task + 1;
    }
    for (const MemoryMap::Tensor& tensor : map.tensors) {
      begin_ = std::min(begin_, tensor.first_task);
      end_ = std::max(end_, tensor.last_task + 1);
    }
    svg_ = svg_begin(kWidth, kHeight);
    svg_ +=
        "<text x=\"" + svg_number(kLeft) + "\" y=\"26\" font-size=\"15\">" + svg_escaped(title) + "</text>\n";
  }

  std::string finish() {
    for (const MemoryMap::Object& object : map_.objects) draw_object(object);
    for (size_t i = 0; i < map_.tensors.size(); ++i) draw_tensor(i);
    for (size_t i = 0; i < map_.objects.size(); ++i) label_object(i);
    draw_bound();
    for (size_t i = 0; i < map_.sections.size(); ++i) draw_section(i);
    draw_axes();
    draw_legend();
    return svg_ + "</svg>\n";
  }

 private:
  // Objects are labelled beside the map.
  double right_edge() const { return map_.objects.empty() ? kWidth - 16 : kWidth - 118; }
  double x(int64_t task) const {
    const double span = static_cast<double>(std::max<int64_t>(1, end_ - begin_));
    return kLeft + (right_edge() - kLeft) * static_cast<double>(task - begin_) / span;
  }
  double y(uint64_t address) const {
    const double total = static_cast<double>(std::max<uint64_t>(1, map_.bytes));
    return kHeight - kBottom - (kHeight - kTop - kBottom) * static_cast<double>(address) / total;
  }
  std::string rectangle(int64_t first, int64_t end, uint64_t address, uint64_t bytes) const {
    return "<rect x=\"" + svg_number(x(first)) + "\" y=\"" + svg_number(y(address + bytes)) + "\" width=\"" +
           svg_number(x(end) - x(first)) + "\" height=\"" + svg_number(y(address) - y(address + bytes)) +
           "\"";
  }

  void draw_object(const MemoryMap::Object& object) {
    svg_ += rectangle(begin_, end_, object.address, object.bytes) + " fill=\"#eee\" stroke=\"#999\"/>\n";
  }

  void draw_tensor(size_t index) {
    const auto& [first, last, address, bytes] = map_.tensors[index];
    // Golden-angle hues: neighbours in the order of tensors differ most.
    const int hue = static_cast<int>((index * 137) % 360);
    const std::string name = index < names_.size() ? names_[index] : "record " + std::to_string(index);
    svg_ += rectangle(first, last + 1, address, bytes) + " fill=\"hsl(" + std::to_string(hue) +
            ",58%,66%)\" stroke=\"#333\" stroke-width=\"0.4\"><title>" + svg_escaped(name) + "\n" +
            readable_bytes(bytes) + ", tasks " + std::to_string(first) + " to " + std::to_string(last) +
            "</title></rect>\n";
    const double width = x(last + 1) - x(first);
    const double height = y(address) - y(address + bytes);
    if (width < 40 || height < 13) return;
    label(x(first) + width / 2, y(address) - height / 2 + 3.5, "middle",
          cut_front(name, static_cast<size_t>((width - 14) / 6)), "font-size=\"10\" pointer-events=\"none\"");
  }

  // The tensors of an object as a label beside it, if the object is high enough for a line of text.
  void label_object(size_t index) {
    const MemoryMap::Object& object = map_.objects[index];
    const double top = y(object.address + object.bytes), bottom = y(object.address);
    if (bottom - top < 12) return;
    label(right_edge() + 6, (top + bottom) / 2 + 4, "start",
          "#" + std::to_string(index) + ": " + std::to_string(object.tensors) +
              (object.tensors == 1 ? " tensor" : " tensors"));
  }

  void draw_bound() {
    if (map_.lower_bound == 0 || map_.lower_bound > map_.bytes) return;
    line(kLeft, y(map_.lower_bound), right_edge(), y(map_.lower_bound), kBoundStroke);
  }

  // A name that is longer than its section loses its end, and one of a narrow section is left out.
  void draw_section(size_t index) {
    const auto& [task, name] = map_.sections[index];
    const int64_t end = index + 1 < map_.sections.size() ? map_.sections[index + 1].first_task : end_;
    line(x(task), kTop - 10, x(task), kHeight - kBottom, kAxisStroke);
    const auto characters = static_cast<size_t>((x(end) - x(task)) / 7);
    if (characters > 3)
      label(x(task) + 4, kTop - 3, "start", cut_end(name, characters - 1), "font-size=\"11\"");
  }

  void draw_axes() {
    for (uint64_t address = 0; address <= map_.bytes; address += address_step(map_.bytes)) {
      label(kLeft - 9, y(address) + 4, "end", tick_label(address));
      line(kLeft - 5, y(address), kLeft, y(address), kAxisStroke);
      if (address > UINT64_MAX - address_step(map_.bytes)) break;
    }
    const int64_t step = task_step(end_ - begin_);
    for (int64_t task = (begin_ + step - 1) / step * step; task <= end_; task += step) {
      label(x(task), kHeight - kBottom + 18, "middle", std::to_string(task));
      line(x(task), kHeight - kBottom, x(task), kHeight - kBottom + 5, kAxisStroke);
    }
    line(kLeft, kTop, kLeft, kHeight - kBottom, kAxisStroke);
    line(kLeft, kHeight - kBottom, right_edge(), kHeight - kBottom, kAxisStroke);
    label((kLeft + right_edge()) / 2, kHeight - kBottom + 34, "middle", "task, in execution order");
    svg_ += "<text transform=\"translate(16 " + svg_number((kTop + kHeight - kBottom) / 2) +
            ") rotate(-90)\" text-anchor=\"middle\" fill=\"#333\">" +
            (map_.objects.empty() ? "address in the arena" : "objects, one above the other") + "</text>\n";
  }

  void draw_legend() {
    const double at = kHeight - 10;
    svg_ += swatch(kLeft, at, "hsl(210,58%,66%)");
    label(kLeft + 20, at, "start", "a tensor, from its first to its last task");
    if (!map_.objects.empty()) {
      svg_ += swatch(kLeft + 270, at, "#eee");
      label(kLeft + 290, at, "start", "unused rest of the object");
    }
    if (map_.lower_bound == 0) return;
    const double dash = kLeft + (map_.objects.empty() ? 270 : 500);
    line(dash, at - 4, dash + 30, at - 4, kBoundStroke);
    label(dash + 38, at, "start",
          (map_.lower_bound >= map_.bytes ? "the plan meets its lower bound, " : "lower bound, ") +
              readable_bytes(map_.lower_bound));
  }

  static std::string swatch(double at_x, double at_y, const char* fill) {
    return "<path d=\"M" + svg_number(at_x) + " " + svg_number(at_y) + "h14v-11h-14z\" fill=\"" + fill +
           "\" stroke=\"#333\" stroke-width=\"0.6\"/>\n";
  }

  static constexpr const char* kAxisStroke = "stroke=\"#333\"";
  static constexpr const char* kBoundStroke =
      "stroke=\"#c0392b\" stroke-width=\"1.5\" stroke-dasharray=\"7 4\"";

  void line(double x1, double y1, double x2, double y2, const char* stroke) {
    svg_ += "<path d=\"M" + svg_number(x1) + " " + svg_number(y1) + "L" + svg_number(x2) + " " +
            svg_number(y2) + "\" " + stroke + "/>\n";
  }

  void label(double at_x, double at_y, std::string_view anchor, const std::string& words,
             const char* style = "") {
    svg_ += "<text x=\"" + svg_number(at_x) + "\" y=\"" + svg_number(at_y) + "\" text-anchor=\"" +
            std::string(anchor) + "\" fill=\"#333\" " + style + ">" + svg_escaped(words) + "</text>\n";
  }

  const MemoryMap& map_;
  int64_t begin_ = 0, end_ = 1;  // tasks
  std::span<const std::string> names_;
  std::string svg_;
};

}  // namespace

std::string memory_map_svg(const MemoryMap& map, std::span<const std::string> names,
                           const std::string& title) {
  return Drawing(map, names, title).finish();
}

std::string memory_map_svg(std::span<const TensorUsageRecord> records, std::span<const std::string> names,
                           const PlanRow& plan, const std::string& title) {
  MemoryMap map;
  map.lower_bound = plan.lower_bound;
  if (plan.mode == PlanMode::offsets) {
    map.bytes = plan.total_bytes;
  } else {
    for (const uint64_t bytes : plan.object_bytes) {
      map.objects.push_back({map.bytes, bytes, 0});
      map.bytes += bytes;
    }
  }
  for (size_t i = 0; i < records.size(); ++i) {
    const uint64_t place = plan.assignment.at(i);
    if (!map.objects.empty()) ++map.objects.at(place).tensors;
    map.tensors.push_back({records[i].first_task, records[i].last_task,
                           map.objects.empty() ? place : map.objects[place].address,
                           byte_size(records[i].size)});
  }
  return memory_map_svg(map, names, title);
}

}  // namespace vellum::planner

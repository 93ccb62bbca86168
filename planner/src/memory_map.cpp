#include "vellum/planner/memory_map.hpp"

#include <algorithm>
#include <cstdio>
#include <optional>
#include <string_view>
#include <vector>

#include "vellum/planner/svg.hpp"

namespace vellum::planner {
namespace {

constexpr double kWidth = 1000, kHeight = 440, kLeft = 96, kTop = 44, kBottom = 66;

struct Block {
  int64_t first, last;
  uint64_t address, bytes;
  size_t record;
};

struct Shelf {  // an object's share of the address axis
  uint64_t address, bytes;
  size_t tensors = 0;
};

struct Map {
  std::vector<Block> blocks;
  std::vector<Shelf> shelves;
  uint64_t total = 0, bound = 0;
  int64_t begin = 0, end = 1;  // tasks
};

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

void set_time(Map& map, std::span<const TensorUsageRecord> records) {
  if (records.empty()) return;
  map.begin = records[0].first_task;
  map.end = records[0].last_task + 1;
  for (const TensorUsageRecord& record : records) {
    map.begin = std::min(map.begin, record.first_task);
    map.end = std::max(map.end, record.last_task + 1);
  }
}

class Drawing {
 public:
  Drawing(const Map& map, std::span<const std::string> names, const std::string& title)
      : map_(map), names_(names) {
    svg_ = svg_begin(kWidth, kHeight);
    svg_ +=
        "<text x=\"" + svg_number(kLeft) + "\" y=\"26\" font-size=\"15\">" + svg_escaped(title) + "</text>\n";
  }

  std::string finish() {
    for (const Shelf& shelf : map_.shelves) draw_shelf(shelf);
    for (const Block& block : map_.blocks) draw_block(block);
    for (size_t i = 0; i < map_.shelves.size(); ++i) label_shelf(i);
    draw_bound();
    draw_axes();
    draw_legend();
    return svg_ + "</svg>\n";
  }

 private:
  // Objects are labelled beside the map.
  double right_edge() const { return map_.shelves.empty() ? kWidth - 16 : kWidth - 118; }
  double x(int64_t task) const {
    const double span = static_cast<double>(std::max<int64_t>(1, map_.end - map_.begin));
    return kLeft + (right_edge() - kLeft) * static_cast<double>(task - map_.begin) / span;
  }
  double y(uint64_t address) const {
    const double total = static_cast<double>(std::max<uint64_t>(1, map_.total));
    return kHeight - kBottom - (kHeight - kTop - kBottom) * static_cast<double>(address) / total;
  }
  std::string rectangle(int64_t first, int64_t end, uint64_t address, uint64_t bytes) const {
    return "<rect x=\"" + svg_number(x(first)) + "\" y=\"" + svg_number(y(address + bytes)) + "\" width=\"" +
           svg_number(x(end) - x(first)) + "\" height=\"" + svg_number(y(address) - y(address + bytes)) +
           "\"";
  }

  void draw_shelf(const Shelf& shelf) {
    svg_ +=
        rectangle(map_.begin, map_.end, shelf.address, shelf.bytes) + " fill=\"#eee\" stroke=\"#999\"/>\n";
  }

  void draw_block(const Block& block) {
    // Golden-angle hues: neighbours in the order of records differ most.
    const int hue = static_cast<int>((block.record * 137) % 360);
    const std::string name =
        block.record < names_.size() ? names_[block.record] : "record " + std::to_string(block.record);
    svg_ += rectangle(block.first, block.last + 1, block.address, block.bytes) + " fill=\"hsl(" +
            std::to_string(hue) + ",58%,66%)\" stroke=\"#333\" stroke-width=\"0.4\"><title>" +
            svg_escaped(name) + "\n" + readable_bytes(block.bytes) + ", tasks " +
            std::to_string(block.first) + " to " + std::to_string(block.last) + "</title></rect>\n";
    const double width = x(block.last + 1) - x(block.first);
    const double height = y(block.address) - y(block.address + block.bytes);
    if (width < 40 || height < 13) return;
    label(x(block.first) + width / 2, y(block.address) - height / 2 + 3.5, "middle",
          cut_front(name, static_cast<size_t>((width - 14) / 6)), "font-size=\"10\" pointer-events=\"none\"");
  }

  // The tensors of an object as a label beside it, if the object is high enough for a line of text.
  void label_shelf(size_t index) {
    const Shelf& shelf = map_.shelves[index];
    const double top = y(shelf.address + shelf.bytes), bottom = y(shelf.address);
    if (bottom - top < 12) return;
    label(right_edge() + 6, (top + bottom) / 2 + 4, "start",
          "#" + std::to_string(index) + ": " + std::to_string(shelf.tensors) +
              (shelf.tensors == 1 ? " tensor" : " tensors"));
  }

  void draw_bound() {
    if (map_.bound == 0 || map_.bound > map_.total) return;
    line(kLeft, y(map_.bound), right_edge(), y(map_.bound), kBoundStroke);
  }

  void draw_axes() {
    for (uint64_t address = 0; address <= map_.total; address += address_step(map_.total)) {
      label(kLeft - 9, y(address) + 4, "end", tick_label(address));
      line(kLeft - 5, y(address), kLeft, y(address), kAxisStroke);
      if (address > UINT64_MAX - address_step(map_.total)) break;
    }
    const int64_t step = task_step(map_.end - map_.begin);
    for (int64_t task = (map_.begin + step - 1) / step * step; task <= map_.end; task += step) {
      label(x(task), kHeight - kBottom + 18, "middle", std::to_string(task));
      line(x(task), kHeight - kBottom, x(task), kHeight - kBottom + 5, kAxisStroke);
    }
    line(kLeft, kTop, kLeft, kHeight - kBottom, kAxisStroke);
    line(kLeft, kHeight - kBottom, right_edge(), kHeight - kBottom, kAxisStroke);
    label((kLeft + right_edge()) / 2, kHeight - kBottom + 34, "middle", "task, in execution order");
    svg_ += "<text transform=\"translate(16 " + svg_number((kTop + kHeight - kBottom) / 2) +
            ") rotate(-90)\" text-anchor=\"middle\" fill=\"#333\">" +
            (map_.shelves.empty() ? "address in the arena" : "objects, one above the other") + "</text>\n";
  }

  void draw_legend() {
    const double at = kHeight - 10;
    svg_ += swatch(kLeft, at, "hsl(210,58%,66%)");
    label(kLeft + 20, at, "start", "a tensor, from its first to its last task");
    if (!map_.shelves.empty()) {
      svg_ += swatch(kLeft + 270, at, "#eee");
      label(kLeft + 290, at, "start", "unused rest of the object");
    }
    if (map_.bound == 0) return;
    const double dash = kLeft + (map_.shelves.empty() ? 270 : 500);
    line(dash, at - 4, dash + 30, at - 4, kBoundStroke);
    label(dash + 38, at, "start",
          (map_.bound >= map_.total ? "the plan meets its lower bound, " : "lower bound, ") +
              readable_bytes(map_.bound));
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

  const Map& map_;
  std::span<const std::string> names_;
  std::string svg_;
};

// Returns the smallest size that covers both, which have the same kind and format.
void grow(Size& a, const Size& b) {
  if (auto* bytes = std::get_if<Bytes>(&a)) {
    bytes->bytes = std::max(bytes->bytes, std::get<Bytes>(b).bytes);
  } else if (auto* image = std::get_if<Texture2D>(&a)) {
    const Texture2D& other = std::get<Texture2D>(b);
    image->width = std::max(image->width, other.width);
    image->height = std::max(image->height, other.height);
  } else {
    Texture3D& volume = std::get<Texture3D>(a);
    const Texture3D& other = std::get<Texture3D>(b);
    volume.width = std::max(volume.width, other.width);
    volume.height = std::max(volume.height, other.height);
    volume.depth = std::max(volume.depth, other.depth);
  }
}

// Returns the bytes of each object, the smallest that covers its tensors in every dimension.
std::vector<uint64_t> object_bytes(std::span<const TensorUsageRecord> records, const PlanRow& plan) {
  std::vector<std::optional<Size>> objects(plan.object_count);
  for (size_t i = 0; i < records.size(); ++i) {
    std::optional<Size>& object = objects.at(plan.assignment.at(i));
    if (object)
      grow(*object, records[i].size);
    else
      object = records[i].size;
  }
  std::vector<uint64_t> bytes;
  bytes.reserve(objects.size());
  for (const std::optional<Size>& object : objects) bytes.push_back(object ? byte_size(*object) : 0);
  return bytes;
}

}  // namespace

std::string memory_map_svg(std::span<const TensorUsageRecord> records, std::span<const std::string> names,
                           const PlanRow& plan, const std::string& title) {
  Map map;
  set_time(map, records);
  map.bound = plan.lower_bound;
  if (plan.mode == PlanMode::offsets) {
    map.total = plan.total_bytes;
  } else {
    for (const uint64_t bytes : object_bytes(records, plan)) {
      map.shelves.push_back({map.total, bytes, 0});
      map.total += bytes;
    }
  }
  for (size_t i = 0; i < records.size(); ++i) {
    const uint64_t place = plan.assignment.at(i);
    if (!map.shelves.empty()) ++map.shelves.at(place).tensors;
    map.blocks.push_back({records[i].first_task, records[i].last_task,
                          map.shelves.empty() ? place : map.shelves[place].address,
                          byte_size(records[i].size), i});
  }
  return Drawing(map, names, title).finish();
}

}  // namespace vellum::planner

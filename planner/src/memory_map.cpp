#include "vellum/planner/memory_map.hpp"

#include <algorithm>
#include <cstdio>
#include <optional>
#include <string_view>
#include <vector>

namespace vellum::planner {
namespace {

constexpr double kWidth = 1000, kHeight = 420, kLeft = 90, kTop = 44, kRight = 16, kBottom = 46;

struct Block {
  int64_t first, last;
  uint64_t address, bytes;
  size_t record;
};

struct Shelf {  // an object's share of the address axis
  uint64_t address, bytes;
};

struct Map {
  std::vector<Block> blocks;
  std::vector<Shelf> shelves;
  uint64_t total = 0;
  int64_t begin = 0, end = 1;  // tasks
};

std::string number(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.2f", value);
  return text;
}

std::string readable_bytes(uint64_t bytes) {
  char text[48];
  if (bytes >= uint64_t{1} << 20)
    std::snprintf(text, sizeof text, "%.2f MiB", static_cast<double>(bytes) / (1 << 20));
  else
    std::snprintf(text, sizeof text, "%.1f KiB", static_cast<double>(bytes) / 1024);
  return text;
}

std::string escaped(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '<')
      out += "&lt;";
    else if (c == '>')
      out += "&gt;";
    else if (c == '&')
      out += "&amp;";
    else if (c == '"')
      out += "&quot;";
    else
      out += static_cast<unsigned char>(c) < 0x20 ? ' ' : c;
  }
  return out;
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
    svg_ = "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 " + number(kWidth) + " " +
           number(kHeight) +
           "\" font-family=\"sans-serif\" font-size=\"12\">\n<rect width=\"100%\" height=\"100%\" "
           "fill=\"#fff\"/>\n";
    svg_ += "<text x=\"" + number(kLeft) + "\" y=\"26\" font-size=\"15\">" + escaped(title) + "</text>\n";
  }

  std::string finish() {
    for (const Shelf& shelf : map_.shelves) draw_shelf(shelf);
    for (const Block& block : map_.blocks) draw_block(block);
    draw_axes();
    return svg_ + "</svg>\n";
  }

 private:
  double x(int64_t task) const {
    const double span = static_cast<double>(std::max<int64_t>(1, map_.end - map_.begin));
    return kLeft + (kWidth - kLeft - kRight) * static_cast<double>(task - map_.begin) / span;
  }
  double y(uint64_t address) const {
    const double total = static_cast<double>(std::max<uint64_t>(1, map_.total));
    return kHeight - kBottom - (kHeight - kTop - kBottom) * static_cast<double>(address) / total;
  }
  std::string rectangle(int64_t first, int64_t end, uint64_t address, uint64_t bytes) const {
    return "<rect x=\"" + number(x(first)) + "\" y=\"" + number(y(address + bytes)) + "\" width=\"" +
           number(x(end) - x(first)) + "\" height=\"" + number(y(address) - y(address + bytes)) + "\"";
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
            std::to_string(hue) + ",58%,66%)\" stroke=\"#333\" stroke-width=\"0.4\"><title>" + escaped(name) +
            "\n" + readable_bytes(block.bytes) + ", tasks " + std::to_string(block.first) + " to " +
            std::to_string(block.last) + "</title></rect>\n";
  }

  void draw_axes() {
    constexpr int kTicks = 5;
    for (int i = 0; i <= kTicks; ++i) {
      const int64_t task = map_.begin + (map_.end - map_.begin) * i / kTicks;
      const uint64_t address = map_.total / kTicks * static_cast<uint64_t>(i);
      label(x(task), kHeight - kBottom + 18, "middle", std::to_string(task));
      label(kLeft - 8, y(address) + 4, "end", readable_bytes(address));
    }
    label((kLeft + kWidth) / 2, kHeight - 8, "middle", "task, in execution order");
  }

  void label(double at_x, double at_y, std::string_view anchor, const std::string& words) {
    svg_ += "<text x=\"" + number(at_x) + "\" y=\"" + number(at_y) + "\" text-anchor=\"" +
            std::string(anchor) + "\" fill=\"#444\">" + escaped(words) + "</text>\n";
  }

  const Map& map_;
  std::span<const std::string> names_;
  std::string svg_;
};

// The smallest size that covers `b` too, of the kind and format that both have.
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

// Bytes of each object: the smallest that covers, in every dimension, the tensors assigned to it.
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
  for (const std::optional<Size>& object : objects) bytes.push_back(object ? byte_size(*object) : 0);
  return bytes;
}

}  // namespace

std::string memory_map_svg(std::span<const TensorUsageRecord> records, std::span<const std::string> names,
                           const PlanRow& plan, const std::string& title) {
  Map map;
  set_time(map, records);
  if (plan.mode == PlanMode::offsets) {
    map.total = plan.total_bytes;
  } else {
    for (const uint64_t bytes : object_bytes(records, plan)) {
      map.shelves.push_back({map.total, bytes});
      map.total += bytes;
    }
  }
  for (size_t i = 0; i < records.size(); ++i) {
    const uint64_t place = plan.assignment.at(i);
    map.blocks.push_back({records[i].first_task, records[i].last_task,
                          map.shelves.empty() ? place : map.shelves[place].address,
                          byte_size(records[i].size), i});
  }
  return Drawing(map, names, title).finish();
}

}  // namespace vellum::planner

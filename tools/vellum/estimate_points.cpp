#include "estimate_points.hpp"

#include <algorithm>
#include <charconv>

namespace vellum::cli {
namespace {

struct Sweep {
  std::string input;
  size_t axis = 0;
  std::vector<int64_t> values;
};

[[noreturn]] void refuse(const std::string& text) {
  throw Error(ErrorCode::invalid_argument, "--sweep " + text + ": write it like tokens:1=16,32,64");
}

template <typename Number>
Number number(std::string_view digits, const std::string& whole) {
  Number value = 0;
  const auto [end, failure] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (failure != std::errc() || end != digits.data() + digits.size() || value < 0) refuse(whole);
  return value;
}

Sweep parse(const std::string& text) {
  const size_t equals = text.rfind('=');
  const size_t colon = equals == std::string::npos ? equals : text.rfind(':', equals);
  if (colon == std::string::npos || colon == 0) refuse(text);
  Sweep sweep;
  sweep.input = text.substr(0, colon);
  sweep.axis = number<size_t>(std::string_view(text).substr(colon + 1, equals - colon - 1), text);
  for (std::string_view rest = std::string_view(text).substr(equals + 1);;) {
    const size_t comma = rest.find(',');
    sweep.values.push_back(number<int64_t>(rest.substr(0, comma), text));
    if (comma == std::string_view::npos) return sweep;
    rest.remove_prefix(comma + 1);
  }
}

// Where only the batch is open it is 1, as in sessions.
Shape shape_of(const TensorInfo& input, const InputShapes& shapes) {
  const auto given = shapes.find(input.name);
  Shape shape = given == shapes.end() ? input.shape : given->second;
  if (!shape.empty() && shape[0] == kUnknownDim) shape[0] = 1;
  return shape;
}

void apply(const Sweep& sweep, size_t index, const std::vector<TensorInfo>& inputs, InputShapes& shapes) {
  const auto input = std::find_if(inputs.begin(), inputs.end(),
                                  [&](const TensorInfo& info) { return info.has_name(sweep.input); });
  if (input == inputs.end())
    throw Error(ErrorCode::not_found, "--sweep: there is no input '" + sweep.input + "'");
  Shape shape = shape_of(*input, shapes);
  if (sweep.axis >= shape.size())
    throw Error(ErrorCode::invalid_argument, "--sweep: input '" + sweep.input + "' is " + to_string(shape) +
                                                 " and has no axis " + std::to_string(sweep.axis));
  shape[sweep.axis] = sweep.values[index];
  shapes[sweep.input] = shape;
}

int64_t first_batch(const std::vector<TensorInfo>& inputs, const InputShapes& shapes) {
  const Shape shape = inputs.empty() ? Shape{} : shape_of(inputs.front(), shapes);
  return shape.empty() ? 1 : shape[0];
}

}  // namespace

InputShapes with_batch(const std::vector<TensorInfo>& inputs, InputShapes shapes, int64_t batch) {
  for (const TensorInfo& input : inputs) {
    Shape shape = shape_of(input, shapes);
    if (shape.empty()) continue;
    shape[0] = batch;
    shapes[input.name] = shape;
  }
  return shapes;
}

std::vector<Point> make_points(const std::vector<TensorInfo>& inputs, const InputShapes& shapes,
                               const std::vector<int64_t>& batches, const std::vector<std::string>& sweeps) {
  std::vector<Point> points;
  for (const int64_t batch : batches) {
    Point& point = points.emplace_back();
    point.batch = point.x = batch;
    point.shapes = with_batch(inputs, shapes, batch);
  }
  std::vector<Sweep> parsed;
  for (const std::string& text : sweeps) parsed.push_back(parse(text));
  for (size_t i = 0; !parsed.empty() && i < parsed.front().values.size(); ++i) {
    Point& point = points.emplace_back();
    point.shapes = shapes;
    point.x = parsed.front().values[i];
    for (size_t s = 0; s < parsed.size(); ++s) {
      if (parsed[s].values.size() != parsed.front().values.size())
        throw Error(ErrorCode::invalid_argument,
                    "--sweep " + sweeps[s] + ": as many values as in " + sweeps.front() + " are wanted");
      apply(parsed[s], i, inputs, point.shapes);
    }
    point.batch = first_batch(inputs, point.shapes);
  }
  if (points.empty()) {
    Point& point = points.emplace_back();
    point.shapes = shapes;
    point.batch = point.x = first_batch(inputs, shapes);
  }
  return points;
}

}  // namespace vellum::cli

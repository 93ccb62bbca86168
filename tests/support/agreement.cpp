#include "support/agreement.hpp"

#include <algorithm>
#include <cmath>
#include <sstream>

namespace vellum::test {
namespace {

// The reference with every element that rounding decides as `got` has decided it.
HostTensor decided_alike(const FetchedModel& model, const std::string& output, const HostTensor& got,
                         const HostTensor& want, Rounding rounding, double roundings) {
  const HostTensor map_tensor = model.before_suppression(output);
  const std::vector<float> map = map_tensor.to_floats(), decided = got.to_floats(),
                           margin = margins(map_tensor, model.suppressed.at(output).window).to_floats();
  const auto undecided =
      static_cast<float>(tolerance(model, margin_name(output), rounding, roundings).largest);
  HostTensor result = want;
  const auto elements = result.mutable_as<float>();
  for (size_t i = 0; i < elements.size(); ++i)
    if (std::fabs(margin[i]) <= undecided) elements[i] = decided[i] == 0.0f ? 0.0f : map[i];
  return result;
}

}  // namespace

Distance tolerance(const FetchedModel& model, const std::string& output, Rounding rounding,
                   double roundings) {
  const Distance& spread = model.spread.at(output)[static_cast<size_t>(rounding)];
  const double least = rounding == Rounding::fp32 ? 1e-4 : 2e-2;
  return {std::max(least, 2 * roundings * spread.largest),
          std::max(least, 2 * roundings * spread.root_mean_square)};
}

std::string disagreement(const FetchedModel& model, const std::string& output, const HostTensor& got,
                         Rounding rounding, double roundings) {
  HostTensor want = model.output(output);
  std::ostringstream text;
  if (got.type() != want.type()) {
    text << "output '" << output << "' is " << to_string(got.shape()) << ", expected "
         << to_string(want.shape());
    return text.str();
  }
  if (model.suppressed.contains(output)) want = decided_alike(model, output, got, want, rounding, roundings);
  const Distance found = distance_between(got, want),
                 accepted = tolerance(model, output, rounding, roundings);
  if (found.largest <= accepted.largest && found.root_mean_square <= accepted.root_mean_square) return {};
  text << "output '" << output << "' is off by " << found.largest << " at most and " << found.root_mean_square
       << " on average; accepted are " << accepted.largest << " and " << accepted.root_mean_square;
  return text.str();
}

HostTensor margins(const HostTensor& map, int64_t window) {
  const HostTensor wide = cast(map, DType::f64);
  const auto elements = wide.as<double>();
  Shape sides;
  for (const int64_t side : map.shape())
    if (side != 1) sides.push_back(side);
  const int64_t height = sides.at(0), width = sides.at(1), reach = window / 2;
  HostTensor result(DType::f64, map.shape());
  const auto margin = result.mutable_as<double>();
  for (int64_t y = 0; y < height; ++y)
    for (int64_t x = 0; x < width; ++x) {
      double largest = -HUGE_VAL;
      for (int64_t v = std::max<int64_t>(0, y - reach); v <= std::min(height - 1, y + reach); ++v)
        for (int64_t u = std::max<int64_t>(0, x - reach); u <= std::min(width - 1, x + reach); ++u)
          if (u != x || v != y) largest = std::max(largest, elements[static_cast<size_t>(v * width + u)]);
      const auto at = static_cast<size_t>(y * width + x);
      margin[at] = elements[at] - largest;
    }
  return result;
}

std::string margin_name(const std::string& output) { return output + " margin"; }

}  // namespace vellum::test

#include "estimate/driver_fit.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <optional>

#include "vellum/error.hpp"

namespace vellum {
namespace {

constexpr size_t kTerms = 3;
// The largest difference between the fit and a sample, relative to the sample.
constexpr double kMostDisagreement = 0.1;
// Upper bounds of the fitted figures, far beyond those of any driver.
constexpr double kMostDriverBytes = 0x1p40, kMostPerOperation = 0x1p24;

// The errors, as factors, of figures from other processors, systems and settings
// (docs/benchmarks/estimate.md): the system determines how much of the driver's code is in memory, and the
// width of the processor's vectors how much code the driver generates. The other factors are for figures of
// this host and work that they were not fitted to.
struct Spread {
  double least, most;
};
constexpr Spread kDriverElsewhere{0.6, 1.4}, kPipelinesElsewhere{0.4, 2.0};
constexpr Spread kDriverHere{0.9, 1.1}, kPipelinesHere{0.6, 1.5};

using Terms = std::array<double, kTerms>;

// The factors of the fitted figures. Operations are in thousands, so that all factors have similar
// magnitudes.
Terms terms_of(const CompiledWork& work) {
  return {1, static_cast<double>(work.operations) / 1e3, static_cast<double>(work.largest_operations) / 1e3};
}

double product(const Terms& a, const Terms& b) { return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]; }

// Solves the normal equations by Gauss-Jordan elimination with pivoting. `used`: a bit for each term; other
// terms are 0.
std::optional<Terms> least_squares(std::span<const DriverSample> samples, unsigned used) {
  std::array<std::array<double, kTerms + 1>, kTerms> rows{};
  for (size_t i = 0; i < kTerms; ++i) {
    if (!(used >> i & 1)) {
      rows[i][i] = 1;
      continue;
    }
    for (const DriverSample& sample : samples) {
      const Terms terms = terms_of(sample.work);
      for (size_t j = 0; j < kTerms; ++j)
        if (used >> j & 1) rows[i][j] += terms[i] * terms[j];
      rows[i][kTerms] += terms[i] * static_cast<double>(sample.bytes);
    }
  }
  for (size_t column = 0; column < kTerms; ++column) {
    const auto pivot = std::max_element(
        rows.begin() + static_cast<std::ptrdiff_t>(column), rows.end(),
        [&](const auto& a, const auto& b) { return std::abs(a[column]) < std::abs(b[column]); });
    if (std::abs((*pivot)[column]) < 1e-9) return std::nullopt;
    std::swap(*pivot, rows[column]);
    for (size_t i = 0; i < kTerms; ++i) {
      if (i == column) continue;
      const double factor = rows[i][column] / rows[column][column];
      for (size_t j = column; j <= kTerms; ++j) rows[i][j] -= factor * rows[column][j];
    }
  }
  Terms solution{};
  for (size_t i = 0; i < kTerms; ++i) solution[i] = rows[i][kTerms] / rows[i][i];
  return solution;
}

double squared_errors(std::span<const DriverSample> samples, const Terms& figures) {
  double sum = 0;
  for (const DriverSample& sample : samples) {
    const double error = product(terms_of(sample.work), figures) - static_cast<double>(sample.bytes);
    sum += error * error;
  }
  return sum;
}

}  // namespace

ProcessTraits fit_process_traits(std::span<const DriverSample> samples) {
  std::optional<Terms> best;
  double least = std::numeric_limits<double>::infinity();
  for (unsigned used = 1; used < 1u << kTerms; ++used) {
    const std::optional<Terms> figures = least_squares(samples, used);
    if (!figures || std::ranges::min(*figures) < 0) continue;
    if (const double error = squared_errors(samples, *figures); error < least) {
      least = error;
      best = figures;
    }
  }
  const auto agrees = [&](const DriverSample& sample) {
    const auto bytes = static_cast<double>(sample.bytes);
    return std::abs(product(terms_of(sample.work), *best) - bytes) <= kMostDisagreement * bytes;
  };
  if (samples.size() < kTerms || !best || (*best)[0] > kMostDriverBytes ||
      std::max((*best)[1], (*best)[2]) / 1e3 > kMostPerOperation || !std::ranges::all_of(samples, agrees))
    throw Error(
        ErrorCode::unsupported,
        "what this driver takes of the process does not follow from the size of its pipelines, so that "
        "it cannot be calibrated");
  ProcessTraits traits;
  traits.driver_bytes = static_cast<uint64_t>((*best)[0]);
  traits.bytes_per_operation = static_cast<uint32_t>((*best)[1] / 1e3);
  traits.bytes_per_operation_of_largest = static_cast<uint32_t>((*best)[2] / 1e3);
  return traits;
}

uint64_t pipeline_bytes(const ProcessTraits& traits, const CompiledWork& work) {
  return work.operations * traits.bytes_per_operation +
         work.largest_operations * traits.bytes_per_operation_of_largest;
}

std::optional<std::pair<uint64_t, uint64_t>> uncertain_driver_bytes(const ProcessTraits& traits,
                                                                    const CompiledWork& work,
                                                                    std::string_view host) {
  const bool here = !traits.host.empty() && traits.host == host;
  const auto [least, most] = traits.fitted_operations;
  if (here && work.operations >= least && work.operations <= most) return std::nullopt;
  const Spread& driver = here ? kDriverHere : kDriverElsewhere;
  const Spread& pipelines = here ? kPipelinesHere : kPipelinesElsewhere;
  const auto fixed = static_cast<double>(traits.driver_bytes);
  const auto compiled = static_cast<double>(pipeline_bytes(traits, work));
  return std::pair{static_cast<uint64_t>(driver.least * fixed + pipelines.least * compiled),
                   static_cast<uint64_t>(driver.most * fixed + pipelines.most * compiled)};
}

}  // namespace vellum

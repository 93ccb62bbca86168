// The fit of a driver's memory to probes.
#include "estimate/driver_fit.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "estimate/driver_probes.hpp"
#include "support/errors.hpp"

namespace vellum {
namespace {

constexpr CompiledWork kWork[] = {{100, 100}, {2'000, 900}, {5'000, 1'500}, {20'000, 9'000}, {24'000, 9'000}};

ProcessTraits figures(uint64_t driver, uint32_t all, uint32_t largest) {
  ProcessTraits traits;
  traits.driver_bytes = driver;
  traits.bytes_per_operation = all;
  traits.bytes_per_operation_of_largest = largest;
  return traits;
}

std::vector<DriverSample> samples_of(const ProcessTraits& traits, uint64_t noise = 0) {
  std::vector<DriverSample> samples;
  for (const CompiledWork& work : kWork) {
    samples.push_back({work, traits.driver_bytes + pipeline_bytes(traits, work)});
    samples.size() % 2 == 0 ? samples.back().bytes += noise : samples.back().bytes -= noise;
  }
  return samples;
}

TEST(DriverFit, FindsTheFiguresThatTheProbesWereMadeOf) {
  for (const ProcessTraits& meant :
       {figures(90'000'000, 900, 2'500), figures(12'000'000, 4'000, 0), figures(70'000'000, 0, 3'000)}) {
    const ProcessTraits found = fit_process_traits(samples_of(meant));
    const auto near = [](uint64_t a, uint64_t b, uint64_t most) {
      return std::max(a, b) - std::min(a, b) <= most;
    };
    EXPECT_TRUE(near(found.driver_bytes, meant.driver_bytes, 10'000)) << found.driver_bytes;
    EXPECT_TRUE(near(found.bytes_per_operation, meant.bytes_per_operation, 2)) << found.bytes_per_operation;
    EXPECT_TRUE(near(found.bytes_per_operation_of_largest, meant.bytes_per_operation_of_largest, 2));
  }
}

TEST(DriverFit, NoFigureIsNegativeAndAMegabyteOfNoiseShiftsNothingMuch) {
  const ProcessTraits meant = figures(90'000'000, 0, 2'500);
  const ProcessTraits found = fit_process_traits(samples_of(meant, 1'000'000));
  for (const CompiledWork& work : kWork) {
    const auto bytes = [&](const ProcessTraits& traits) {
      return static_cast<double>(traits.driver_bytes + pipeline_bytes(traits, work));
    };
    EXPECT_NEAR(bytes(found), bytes(meant), 2e6);
  }
}

// SwiftShader's, as measured: the last three have the large pipeline.
TEST(DriverFit, RefusesWhatIsNoSuchDriver) {
  const std::vector<DriverSample> samples = samples_of(figures(1'000'000, 100, 100));
  EXPECT_VELLUM_ERROR(fit_process_traits(std::span(samples).first(2)), ErrorCode::unsupported, "calibrated");
  EXPECT_VELLUM_ERROR(fit_process_traits({}), ErrorCode::unsupported, "calibrated");
  const std::vector<DriverSample> square{{{17, 17}, 31'848'448},         {{4'875, 1'829}, 68'494'368},
                                         {{9'324, 1'829}, 79'578'064},   {{21'424, 6'190}, 341'631'440},
                                         {{26'114, 6'190}, 341'251'408}, {{28'859, 6'190}, 335'358'032}};
  EXPECT_VELLUM_ERROR(fit_process_traits(square), ErrorCode::unsupported, "calibrated");
}

// lavapipe's, as measured on one machine.
TEST(DriverFit, FitsLavapipe) {
  const std::vector<DriverSample> measured{{{13, 13}, 96'524'288},         {{4'837, 1'837}, 109'761'888},
                                           {{9'235, 1'837}, 114'580'752},  {{21'287, 6'174}, 141'562'640},
                                           {{25'846, 6'174}, 145'583'248}, {{28'599, 6'174}, 148'358'032}};
  const ProcessTraits found = fit_process_traits(measured);
  for (const DriverSample& sample : measured) {
    const auto bytes = static_cast<double>(found.driver_bytes + pipeline_bytes(found, sample.work));
    EXPECT_NEAR(bytes, static_cast<double>(sample.bytes), 0.02 * static_cast<double>(sample.bytes));
  }
}

// On the host of the measurement there is no interval, elsewhere a wide one, and beyond what was measured one
// that is less so.
TEST(DriverFit, FiguresHoldWhereTheyWereMeasured) {
  ProcessTraits traits = figures(100'000'000, 1'000, 3'000);
  traits.host = "this processor";
  traits.fitted_operations = {1'000, 30'000};
  const CompiledWork usual{20'000, 9'000}, much{90'000, 20'000};
  EXPECT_FALSE(uncertain_driver_bytes(traits, usual, "this processor"));
  const auto elsewhere = uncertain_driver_bytes(traits, usual, "another"),
             beyond = uncertain_driver_bytes(traits, much, "this processor"),
             both = uncertain_driver_bytes(traits, much, "another");
  ASSERT_TRUE(elsewhere && beyond && both);
  EXPECT_LT(elsewhere->first, traits.driver_bytes + pipeline_bytes(traits, usual));
  EXPECT_GT(elsewhere->second, traits.driver_bytes + pipeline_bytes(traits, usual));
  EXPECT_LT(both->first, beyond->first);
  EXPECT_GT(both->second, beyond->second);
  traits.host.clear();
  EXPECT_TRUE(uncertain_driver_bytes(traits, usual, "")) << "nobody knows where";
}

// Every probe adds work, so that the figures can be told apart.
TEST(DriverProbes, AreNetworksOfSeveralLayers) {
  const std::vector<Graph> probes = driver_probes();
  ASSERT_GE(probes.size(), 5u);
  EXPECT_EQ(probes.front().nodes.size(), 1u);
  for (size_t i = 1; i < probes.size(); ++i) EXPECT_GE(probes[i].nodes.size(), 3u);
}

}  // namespace
}  // namespace vellum

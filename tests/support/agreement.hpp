// Compares the outputs of a fetched model with those of an independent engine, with tolerances that follow
// from the precision.
#pragma once

#include <string>

#include "support/fetched_model.hpp"

namespace vellum::test {

// Returns the largest allowed distance between the results of two engines: 1e-4 (fp32) or 2e-2 (fp16), or
// twice the spread of the output in rounding.json if that is larger (twice, because both engines round). Both
// the largest distance and the root mean square are bounded.
//
// `roundings` is the error of one conversion to halves in unit roundoffs: 1 where it rounds to nearest, 2 where
// it truncates, which Vulkan allows. The spread is in proportion to it.
Distance tolerance(const FetchedModel& model, const std::string& output, Rounding rounding,
                   double roundings = 1);

// Returns an empty string if `got` agrees with the reference of the output, otherwise a line with the
// distance. In a suppressed output (Suppression), an element whose suppression depends on rounding may be
// zero or its value before suppression.
std::string disagreement(const FetchedModel& model, const std::string& output, const HostTensor& got,
                         Rounding rounding, double roundings = 1);

// Returns by how much each element of a map exceeds the largest of its neighbours in a square window. The map
// has a height and a width; all other dimensions are 1.
HostTensor margins(const HostTensor& map, int64_t window);
// Returns the name of the row for the spread of margins in the table.
std::string margin_name(const std::string& output);

}  // namespace vellum::test

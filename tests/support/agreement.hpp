// Whether the outputs of a fetched model agree with those of the independent engine, as far as the precision
// determines them.
#pragma once

#include <string>

#include "support/fetched_model.hpp"

namespace vellum::test {

// How far apart the results of two engines may be: 1e-4 (fp32) or 2e-2 (fp16), or twice the spread of the
// output in rounding.json where that is more, for both engines round. It bounds the largest distance and the
// root mean square alike.
Distance tolerance(const FetchedModel& model, const std::string& output, Rounding rounding);

// Returns an empty string if `got` agrees with the reference of the output, else a line with the distance. In a
// suppressed output (Suppression), an element that rounding decides may be zero or the value before suppression.
std::string disagreement(const FetchedModel& model, const std::string& output, const HostTensor& got,
                         Rounding rounding);

// By how much each element of a map is larger than the largest of its neighbours in a square window. Before
// the map's last dimensions, height and width, or between them and its end, there are only dimensions of 1.
HostTensor margins(const HostTensor& map, int64_t window);
// Returns the name of the row for the spread of margins in the table.
std::string margin_name(const std::string& output);

}  // namespace vellum::test

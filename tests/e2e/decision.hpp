// Compares the decisions that an application would make from two results of a network.
#pragma once

#include <map>
#include <string>

#include "support/fetched_model.hpp"

namespace vellum::test {

// Empty where both results lead to the same decision, else a line that says how they differ:
//   boxes            the same anchors score above one half after the strongest of each cluster is kept, and
//                    their boxes overlap by 90 % or `box_overlap` (intersection over union)
//   mask             the regions above the threshold overlap by 99 %
//   lines            every line that scores 0.12 in one result has a counterpart of 0.08 in the other: a
//                    centre in the same cell or a neighbour, ends within 2 cells
//   landmarks        points are within 1 % of the picture's side of each other on average
//   text             equal sequences of characters, greedily decoded (CTC: repeats merged, blanks dropped)
//   classes          the class of the highest score of each row
//   classes_of_best  the class and the anchor of the highest score
std::string differs(const Decision& decision, const std::map<std::string, HostTensor>& got,
                    const std::map<std::string, HostTensor>& want);

}  // namespace vellum::test

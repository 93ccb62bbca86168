// Reads ONNX's single-operator tests: a folder per test with model.onnx and
// test_data_set_N/{input,output}_M.pb.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "graph/tensor.hpp"

namespace vellum::conformance {

struct NodeTest {
  std::string name;
  std::filesystem::path folder;
};

// The tests of one suite ("node", "pytorch-operator", ...), sorted by name; empty where the suite is not
// installed.
std::vector<NodeTest> find_tests(const std::filesystem::path& suite);

// Where Debian's libonnx-testdata puts the suites, or VELLUM_ONNX_TEST_DATA.
std::filesystem::path test_data_root();

// test_data_set_<set>/<kind>_0.pb, _1.pb, ... as far as they go.
std::vector<HostTensor> read_tensors(const NodeTest& test, int set, const std::string& kind);
// The model with every input but the first made a constant: its value in the first data set.
std::string with_constant_inputs(const NodeTest& test);
bool has_data_set(const NodeTest& test, int set);

// 1e-3 as in ONNX's own runner, but four roundings of an output that the file stores in float16 (2^-11 each)
// or bfloat16 (2^-8 each): expected values of several operators in a row are rounded after each, those of
// Vellum are not. Infinity for random numbers, of which only the type is compared.
double relative_tolerance(const NodeTest& test, int set, size_t output);
// Empty where `actual` equals `expected` within the tolerances, NaN equal to NaN, else what differs.
// Functions of a GPU need a larger absolute tolerance near zero.
std::string difference(const HostTensor& actual, const HostTensor& expected, double absolute_tolerance,
                       double relative_tolerance);

}  // namespace vellum::conformance

// Times whole networks, and each operator within them.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "exec/executor.hpp"
#include "tune/assign_storages.hpp"
#include "vellum/options.hpp"

namespace vellum {

// Returns the minimum time of each network in milliseconds over several interleaved runs.
std::vector<double> least_times(const std::vector<std::unique_ptr<Executor>>& networks);

// Returns for each network the milliseconds of each node of the graph, layout conversions included: the
// minimum over several interleaved runs. Nodes of the same name share their time. The executors must have
// timestamps.
std::vector<std::vector<double>> node_times(const Graph& graph,
                                            const std::vector<std::unique_ptr<Executor>>& networks);

// The measured time of each operator in images and in buffers.
struct MeasuredStorages {
  StorageProblem problem;
  StorageChoice image = StorageChoice::image2d;  // the kind of images that were measured
};

// Returns the milliseconds of each node for each network; a network is given by the storages of its values.
using TimeNodes =
    std::function<std::vector<std::vector<double>>(const std::vector<std::vector<StorageChoice>>& networks)>;

// Measures the time of each operator with its inputs and outputs in images and in buffers, by running whole
// networks: with all values in images, with all in buffers, and with every other value in an image. Uses
// image3d if a network with image3d is clearly faster than one with image2d; image3d is measured only if
// image2d is not much slower than buffers.
MeasuredStorages measure_storages(const Graph& graph, const TimeNodes& time);

std::vector<StorageChoice> to_storages(const InImages& in_images, StorageChoice image);

}  // namespace vellum

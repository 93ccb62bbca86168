// Times whole networks, and each of their operators in them.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "exec/executor.hpp"
#include "tune/assign_storages.hpp"
#include "vellum/options.hpp"

namespace vellum {

// Returns the minimum time of each network over several runs in turns, in milliseconds.
std::vector<double> least_times(const std::vector<std::unique_ptr<Executor>>& networks);

// Returns the milliseconds of each node of the graph in each of its networks, conversions included: the
// minimum over several runs in turns. Nodes of one name share theirs. The executors have timestamps.
std::vector<std::vector<double>> node_times(const Graph& graph,
                                            const std::vector<std::unique_ptr<Executor>>& networks);

struct MeasuredStorages {
  StorageProblem problem;
  StorageChoice image = StorageChoice::image2d;  // the kind of images that were measured
};

// Returns the milliseconds of each node in each of the networks, given as the storages of their values.
using TimeNodes =
    std::function<std::vector<std::vector<double>>(const std::vector<std::vector<StorageChoice>>& networks)>;

// Measures the time of each operator with its inputs and outputs in images and in buffers, in whole networks:
// with all values in images, all in buffers, and every other value in an image. Images are image3d if a
// network of these is clearly faster than one of image2d; this is measured if image2d is not much slower than
// buffers.
MeasuredStorages measure_storages(const Graph& graph, const TimeNodes& time);

std::vector<StorageChoice> to_storages(const InImages& in_images, StorageChoice image);

}  // namespace vellum

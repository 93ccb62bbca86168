// Tensors of the graph are those of the public interface.
#pragma once

#include "vellum/tensor.hpp"

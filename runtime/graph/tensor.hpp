// The graph uses the tensor types of the public interface.
#pragma once

#include "vellum/tensor.hpp"

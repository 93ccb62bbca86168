// The generated readers of TFLite files. Only this folder includes it.
#pragma once

#include <vellum_tflite_generated.h>

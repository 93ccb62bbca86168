// The generated readers of packed models. Included by this folder alone.
#pragma once

#include <vellum_pack_generated.h>

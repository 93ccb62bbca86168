// MinGW's <eh.h> needs another std::type_info than Microsoft's library has.
#pragma once
#include <vcruntime_exception.h>

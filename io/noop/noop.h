/* noop.h - the sink that takes rows and forgets them, to measure all that comes before it. */
#pragma once
#include "core/op/sink.h"

extern const struct mr_sink_ops mr_sink_noop;

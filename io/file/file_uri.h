/* file_uri.h - a path as input_file_name() shows it: absolute, "file:///in/a%20b.json". */
#pragma once
#include "core/base/text.h"

struct mr_arena;
const char *mr_file_uri(struct mr_arena *a, const char *path);

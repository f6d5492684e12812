/* path.h - names of files as texts. */
#pragma once
#include <limits.h>

/* From the root, below the current directory where it is relative, without ".", ".." and doubled
 * slashes: as Spark's Path is qualified, links are not followed. A path that is too long stays as
 * it is. */
void mr_path_absolute(const char *path, char out[PATH_MAX]);

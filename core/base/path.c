#include "core/base/path.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* Behind what is in out: false, it has no room. */
static bool append(char out[PATH_MAX], const char *path)
{
    size_t n = strlen(out);

    while (*(path += strspn(path, "/"))) {
        size_t part_n = strcspn(path, "/");
        if (part_n == 2 && memcmp(path, "..", 2) == 0) {
            while (n > 0 && out[--n] != '/')
                continue;
        } else if (part_n != 1 || *path != '.') {
            if (n + part_n + 2 > PATH_MAX)
                return false;
            out[n++] = '/';
            memcpy(out + n, path, part_n);
            n += part_n;
        }
        out[n] = '\0';
        path += part_n;
    }
    return true;
}

void mr_path_absolute(const char *path, char out[PATH_MAX])
{
    char folder[PATH_MAX] = "";

    out[0] = '\0';
    if ((path[0] != '/' && (getcwd(folder, sizeof folder) == NULL || !append(out, folder))) ||
        !append(out, path))
        snprintf(out, PATH_MAX, "%s", path);
    else if (out[0] == '\0')
        snprintf(out, PATH_MAX, "/");
}

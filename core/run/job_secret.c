/* job_secret.c - ${env:NAME} and ${file:path} in the values of a job file. */
#include "core/run/job_yaml.h"

#include <stdlib.h>

enum { SECRET_BYTES_MAX = 1 << 20 };

static void note_secret(struct mr_yaml_file *file, const char *value)
{
    if (file->secrets_n == file->secrets_capacity) {
        uint32_t capacity = file->secrets_capacity ? file->secrets_capacity * 2 : 4;
        const char **secrets = MR_NEW_ARRAY(file->arena, const char *, capacity);
        if (file->secrets_n)
            memcpy(secrets, file->secrets, sizeof *secrets * file->secrets_n);
        file->secrets = secrets;
        file->secrets_capacity = capacity;
    }
    file->secrets[file->secrets_n++] = value;
}

/* "env:NAME" or "file:path" -> what it stands for. */
static enum mr_status look_up(struct mr_yaml_file *file, const struct mr_yaml *scalar,
                              struct mr_text reference, const char **value, struct mr_error *err)
{
    const char *text = mr_arena_copy(file->arena, reference.data, reference.n);

    if (strncmp(text, "env:", 4) == 0) {
        *value = getenv(text + 4);
        if (*value == NULL)
            return mr_yaml_fail(file, scalar, err, "${%s}: the environment has no %s", text,
                                text + 4);
        return MR_OK;
    }
    if (strncmp(text, "file:", 5) == 0) {
        struct mr_text content;
        struct mr_error inner = {0};
        if (mr_yaml_read_file(text + 5, SECRET_BYTES_MAX, file->arena, &content, &inner)) {
            enum mr_status status =
                mr_yaml_fail(file, scalar, err, "${%s}: %s", text, inner.message);
            if (err)
                err->os_error = inner.os_error;
            return status;
        }
        while (content.n > 0 &&
               (content.data[content.n - 1] == '\n' || content.data[content.n - 1] == '\r'))
            content.n--;
        *value = mr_arena_copy(file->arena, content.data, content.n);
        if (strlen(*value) != content.n)
            return mr_yaml_fail(file, scalar, err, "${%s}: the file has a zero byte", text);
        return MR_OK;
    }
    return mr_yaml_fail(file, scalar, err,
                        "${%s}: allowed are ${env:NAME} and ${file:path}; write $${ for a plain ${",
                        text);
}

enum mr_status mr_yaml_resolve(struct mr_yaml_file *file, struct mr_yaml *scalar,
                               struct mr_error *err)
{
    struct mr_text t = scalar->text;
    struct mr_buffer out;

    if (memmem(t.data, t.n, "${", 2) == NULL)
        return MR_OK;
    mr_buffer_init(&out, file->arena);
    for (uint64_t i = 0; i < t.n;) {
        if (t.n - i >= 3 && memcmp(t.data + i, "$${", 3) == 0) {
            mr_buffer_append(&out, "${", 2);
            i += 3;
        } else if (t.n - i >= 2 && memcmp(t.data + i, "${", 2) == 0) {
            const char *end = memchr(t.data + i, '}', t.n - i), *value;
            if (end == NULL)
                return mr_yaml_fail(file, scalar, err, "\"${\" without \"}\"");
            struct mr_text reference = {t.data + i + 2, (uint64_t)(end - t.data) - i - 2};
            enum mr_status status = look_up(file, scalar, reference, &value, err);
            if (status)
                return status;
            mr_buffer_append_text(&out, mr_text_of(value));
            note_secret(file, value);
            scalar->is_secret = true;
            i = (uint64_t)(end - t.data) + 1;
        } else {
            mr_buffer_append(&out, t.data + i++, 1);
        }
    }
    scalar->text = (struct mr_text){mr_arena_copy(file->arena, out.data, out.n), out.n};
    scalar->is_resolved = true;
    return MR_OK;
}

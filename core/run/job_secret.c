/* job_secret.c - ${env:NAME} and ${file:path} in the values of a job file; what hides them. */
#include "core/run/job_yaml.h"

#include <stdio.h>
#include <stdlib.h>

enum {
    SECRET_BYTES_MAX = 1 << 20,
    HIDDEN_BYTES_MIN = 4, /* shorter values are numbers and flags, which stand everywhere */
};

static const char hidden[] = "***";
_Static_assert(sizeof hidden - 1 <= HIDDEN_BYTES_MIN, "no text grows by hiding");

static void note_secret(struct mr_yaml_file *file, const char *value)
{
    if (strlen(value) < HIDDEN_BYTES_MIN)
        return;
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

/* How many bytes of a secret stand there, the longest of them: all of it, or some that end with a
 * quote, as long values are shown. */
static uint64_t secret_at(struct mr_text at, const char *const *secrets, uint32_t secrets_n)
{
    uint64_t longest = 0;

    for (uint32_t i = 0; i < secrets_n; i++) {
        const char *secret = secrets[i];
        uint64_t k = 0;
        while (k < at.n && secret[k] && at.data[k] == secret[k])
            k++;
        if (secret[k] == '\0' || (k >= HIDDEN_BYTES_MIN && k < at.n && at.data[k] == '\''))
            longest = k > longest ? k : longest;
    }
    return longest;
}

/* In place, as a text never grows by it; gives its length. */
static uint64_t hide(char *text, uint64_t n, const char *const *secrets, uint32_t secrets_n)
{
    uint64_t kept = 0, k;

    for (uint64_t at = 0; at < n; at += k ? k : 1) {
        k = secret_at((struct mr_text){text + at, n - at}, secrets, secrets_n);
        if (k == 0) {
            text[kept++] = text[at];
            continue;
        }
        memcpy(text + kept, hidden, sizeof hidden - 1);
        kept += sizeof hidden - 1;
    }
    return kept;
}

struct mr_text mr_secrets_hide(const char *const *secrets, uint32_t secrets_n, struct mr_text text,
                               struct mr_arena *a)
{
    char *copy = mr_arena_copy(a, text.data, text.n);

    return (struct mr_text){copy, hide(copy, text.n, secrets, secrets_n)};
}

/* How many bytes at the end of a text begin a secret, the longest of them. */
static size_t cut_secret(const char *text, size_t n, const char *const *secrets, uint32_t secrets_n)
{
    size_t longest = 0;

    for (uint32_t i = 0; i < secrets_n; i++)
        for (size_t k = strlen(secrets[i]); k-- > longest + 1;)
            if (k <= n && memcmp(text + n - k, secrets[i], k) == 0)
                longest = k;
    return longest;
}

static void hide_in(char *text, size_t text_bytes, const char *const *secrets, uint32_t secrets_n)
{
    size_t n = strlen(text), cut = 0;

    if (n + 1 == text_bytes) /* it filled its room: it may end within a secret */
        cut = cut_secret(text, n, secrets, secrets_n);
    n = hide(text, n - cut, secrets, secrets_n);
    snprintf(text + n, cut + 1, "%s", hidden);
}

void mr_yaml_hide_secrets(const struct mr_yaml_file *file, struct mr_error *err)
{
    if (err == NULL)
        return;
    hide_in(err->message, sizeof err->message, file->secrets, file->secrets_n);
    hide_in(err->file, sizeof err->file, file->secrets, file->secrets_n);
}

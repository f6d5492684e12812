/* job_secret.c - ${env:NAME} and ${file:path} in the values of a job file; what hides them. */
#include "core/run/job_yaml.h"

#include <stdio.h>
#include <stdlib.h>

enum {
    SECRET_BYTES_MAX = 1 << 20,
    HIDDEN_BYTES_MIN = 4, /* shorter values are numbers and flags, which stand everywhere */
};

static const char hidden[] = "***";

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

/* How many bytes of secret stand there: all, or some that end with a quote, as long values are
 * shown. */
static uint64_t secret_at(struct mr_text at, const char *secret)
{
    uint64_t k = 0;

    while (k < at.n && secret[k] && at.data[k] == secret[k])
        k++;
    return secret[k] == '\0' || (k >= HIDDEN_BYTES_MIN && k < at.n && at.data[k] == '\'') ? k : 0;
}

struct mr_text mr_secrets_hide(const char *const *secrets, uint32_t secrets_n, struct mr_text text,
                               struct mr_arena *a)
{
    struct mr_buffer out;

    mr_buffer_init(&out, a);
    while (text.n) {
        uint64_t n = 0;
        for (uint32_t i = 0; i < secrets_n && n == 0; i++)
            n = secret_at(text, secrets[i]);
        if (n)
            mr_buffer_append(&out, hidden, sizeof hidden - 1);
        else
            mr_buffer_append(&out, text.data, n = 1);
        text.data += n;
        text.n -= n;
    }
    return mr_buffer_text(&out);
}

static void hide_in(char *text, size_t text_bytes, const char *secret)
{
    size_t text_n = strlen(text);

    /* A text that filled its room may end within the secret. */
    for (size_t k = strlen(secret); k-- > 1 && text_n + 1 == text_bytes;)
        if (k < text_n && memcmp(text + text_n - k, secret, k) == 0) {
            snprintf(text + text_n - k, k + 1, "%s", hidden);
            break;
        }
    for (char *at = text; *at;) {
        char rest[MR_ERROR_MESSAGE];
        uint64_t n = secret_at(mr_text_of(at), secret);
        if (n == 0) {
            at++;
            continue;
        }
        snprintf(rest, sizeof rest, "%s", at + n);
        snprintf(at, text_bytes - (size_t)(at - text), "%s%s", hidden, rest);
        at += strnlen(at, sizeof hidden - 1);
    }
}

void mr_yaml_hide_secrets(const struct mr_yaml_file *file, struct mr_error *err)
{
    for (uint32_t i = 0; err && i < file->secrets_n; i++) {
        hide_in(err->message, sizeof err->message, file->secrets[i]);
        hide_in(err->file, sizeof err->file, file->secrets[i]);
    }
}

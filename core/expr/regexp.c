#define PCRE2_CODE_UNIT_WIDTH 8
#include "core/expr/regexp.h"

#include <pcre2.h>
#include <stdlib.h>

enum { MATCH_LIMIT = 10 * 1000 * 1000, DEPTH_LIMIT = 100 * 1000, GROUP_NAME_MAX = 32 };

struct mr_regexp {
    pcre2_code *code;
    pcre2_match_data *match;
    pcre2_match_context *context;
    uint32_t groups;
    char *pattern;
    uint64_t pattern_n;
};

_Static_assert(sizeof(PCRE2_SIZE) == sizeof(uint64_t), "spans are PCRE2's own");

void mr_regexp_free(void *state)
{
    struct mr_regexp *x = ((struct mr_regexp_state *)state)->current;

    if (x == NULL)
        return;
    pcre2_match_context_free(x->context);
    pcre2_match_data_free(x->match);
    pcre2_code_free(x->code);
    free(x->pattern);
    free(x);
    ((struct mr_regexp_state *)state)->current = NULL;
}

static enum mr_status bad_pattern(struct mr_call *call, struct mr_text pattern, int code)
{
    PCRE2_UCHAR message[128];

    pcre2_get_error_message(code, message, sizeof message);
    return MR_FAIL_CONDITION(call->err, MR_QUERY, "INVALID_PARAMETER_VALUE.PATTERN",
                             "The value of parameter(s) `regexp` in `%s` is invalid: '%.*s' (%s).",
                             call->expr->function->name, (int)(pattern.n < 512 ? pattern.n : 512),
                             pattern.data, (const char *)message);
}

enum mr_status mr_regexp_set(struct mr_call *call, struct mr_text pattern, struct mr_regexp **out)
{
    struct mr_regexp_state *state = call->state;
    struct mr_regexp *x = state->current;
    PCRE2_SIZE at;
    int code;

    if (x && x->pattern_n == pattern.n && memcmp(x->pattern, pattern.data, pattern.n) == 0) {
        *out = x;
        return MR_OK;
    }
    mr_regexp_free(state);
    x = calloc(1, sizeof *x);
    if (x == NULL)
        return MR_FAIL(call->err, MR_MEMORY, 0, "%s: no memory", call->expr->function->name);
    state->current = x;
    x->pattern = malloc(pattern.n + 1);
    x->code = pcre2_compile((PCRE2_SPTR)pattern.data, pattern.n,
                            PCRE2_UTF | PCRE2_MATCH_INVALID_UTF, &code, &at, NULL);
    if (x->code == NULL) {
        enum mr_status status = bad_pattern(call, pattern, code);
        mr_regexp_free(state);
        return status;
    }
    pcre2_jit_compile(x->code, PCRE2_JIT_COMPLETE); /* without JIT it is slower, not wrong */
    x->match = pcre2_match_data_create_from_pattern(x->code, NULL);
    x->context = pcre2_match_context_create(NULL);
    if (x->match == NULL || x->context == NULL || x->pattern == NULL) {
        mr_regexp_free(state);
        return MR_FAIL(call->err, MR_MEMORY, 0, "%s: no memory", call->expr->function->name);
    }
    memcpy(x->pattern, pattern.data, pattern.n);
    x->pattern_n = pattern.n;
    pcre2_set_match_limit(x->context, MATCH_LIMIT);
    pcre2_set_depth_limit(x->context, DEPTH_LIMIT);
    pcre2_pattern_info(x->code, PCRE2_INFO_CAPTURECOUNT, &x->groups);
    *out = x;
    return MR_OK;
}

enum mr_status mr_regexp_match(struct mr_call *call, struct mr_regexp *x, struct mr_text t,
                               uint64_t from, bool *found, const uint64_t **spans)
{
    int n = pcre2_match(x->code, (PCRE2_SPTR)(t.data ? t.data : ""), t.n, from, 0, x->match,
                        x->context);

    *found = n >= 0;
    *spans = (const uint64_t *)pcre2_get_ovector_pointer(x->match);
    if (n >= 0 || n == PCRE2_ERROR_NOMATCH)
        return MR_OK;
    return MR_FAIL(call->err, MR_QUERY, 0,
                   "%s: the pattern '%.*s' takes too long on a text of %llu bytes (code %d)",
                   call->expr->function->name, (int)(x->pattern_n < 256 ? x->pattern_n : 256),
                   x->pattern, (unsigned long long)t.n, n);
}

uint32_t mr_regexp_groups(const struct mr_regexp *x)
{
    return x->groups;
}

int32_t mr_regexp_group_named(const struct mr_regexp *x, struct mr_text name)
{
    char text[GROUP_NAME_MAX + 1];
    int number;

    if (name.n > GROUP_NAME_MAX)
        return -1;
    memcpy(text, name.data, name.n);
    text[name.n] = 0;
    number = pcre2_substring_number_from_name(x->code, (PCRE2_SPTR)text);
    return number > 0 ? number : -1;
}

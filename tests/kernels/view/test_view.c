#include "kernels/view/view.h"
#include "tests/kernels/guard.h"

enum { LONG = 13 };

/* Few different words, so that many rows agree in one or both. */
static void fill(uint64_t *views, uint32_t n, uint64_t seed)
{
    for (uint32_t i = 0; i < n; i++) {
        uint32_t length = (uint32_t)(guard_random(&seed) >> 30) % 2 ? LONG : 9;
        views[2 * i] = length | (guard_random(&seed) >> 30 & 1) << 40;
        views[2 * i + 1] = guard_random(&seed) >> 30 & 1;
    }
}

static bool may_be_equal(const uint64_t *x, const uint64_t *y)
{
    return x[0] == y[0] && (x[1] == y[1] || (uint32_t)x[0] == LONG);
}

static void test_views(void **state)
{
    (void)state;
    GUARD_EACH(v, mr_view_kernels, mr_view_variants)
    for (uint32_t n = 0; n <= GUARD_ROWS; n++) {
        struct guard g = guard_open(n);
        uint64_t *x = guard_alloc(&g, n * 16), *y = guard_alloc(&g, n * 16);
        uint64_t bits[GUARD_ROWS / 64 + 1], by[GUARD_ROWS / 64 + 1];
        int32_t lengths[GUARD_ROWS + 1] = {0};
        fill(x, n, n);
        fill(y, n, n + 1);
        (*v)->lengths(lengths, x, n);
        (*v)->equal(bits, x, y, n);
        (*v)->equal_by(by, x, y, n);
        for (uint32_t i = 0; i < n; i++) {
            assert_int_equal(lengths[i], (uint32_t)x[2 * i]);
            assert_int_equal(bits[i / 64] >> (i % 64) & 1, may_be_equal(x + 2 * i, y + 2 * i));
            assert_int_equal(by[i / 64] >> (i % 64) & 1, may_be_equal(x + 2 * i, y));
        }
        assert_int_equal(lengths[n], 0);
        if (n % 64) {
            assert_int_equal(bits[n / 64] >> (n % 64), 0);
            assert_int_equal(by[n / 64] >> (n % 64), 0);
        }
        guard_close(&g);
    }
}

static void test_ascii(void **state)
{
    (void)state;
    GUARD_EACH(v, mr_view_kernels, mr_view_variants)
    for (uint32_t n = 0; n <= 2 * GUARD_ROWS; n++) {
        struct guard g = guard_open(0);
        char *text = guard_alloc(&g, n);
        memset(text, 0x7f, n);
        assert_true((*v)->is_ascii(text, n));
        for (uint32_t i = 0; i < n; i += i % 7 + 1) {
            text[i] = (char)0x80;
            assert_false((*v)->is_ascii(text, n));
            text[i] = 0;
        }
        guard_close(&g);
    }
}

static void test_span(void **state)
{
    (void)state;
    GUARD_EACH(v, mr_view_kernels, mr_view_variants)
    for (uint32_t n = 0; n <= GUARD_ROWS; n++) {
        struct guard g = guard_open(n);
        uint64_t *views = guard_alloc(&g, n * 16), seed = n;
        struct mr_view_span wanted = {.from_heap = UINT32_MAX, .from = UINT32_MAX};
        for (uint32_t i = 0; i < n; i++) {
            const uint32_t length = (uint32_t)(guard_random(&seed) >> 30) % (n % 3 ? 26 : 13);
            const uint32_t prefix =
                (uint32_t)(guard_random(&seed) >> 20) & (i < n / 2 ? 0x7f7f7f7f : 0xff7f807f);
            const uint32_t heap = (uint32_t)(guard_random(&seed) >> 30) % (n % 7 + 1);
            const uint32_t offset = (uint32_t)(guard_random(&seed) >> 30) >> (n % 16 + 1);
            views[2 * i] = length | (uint64_t)prefix << 32;
            views[2 * i + 1] = heap | (uint64_t)offset << 32;
            if ((prefix | (length <= 12 ? heap | offset : 0)) & 0x80808080u)
                wanted.high = 1;
            if (length <= 12)
                continue;
            wanted.from_heap = heap < wanted.from_heap ? heap : wanted.from_heap;
            wanted.to_heap = heap > wanted.to_heap ? heap : wanted.to_heap;
            wanted.from = offset < wanted.from ? offset : wanted.from;
            wanted.to = offset + length > wanted.to ? offset + length : wanted.to;
        }
        const struct mr_view_span got = (*v)->span(views, n);
        assert_memory_equal(&got, &wanted, sizeof got);
        guard_close(&g);
    }
}

static void test_find(void **state)
{
    static const char *const whats[] = {"a", "ab", "aab", "aaaab", "abababababababab", "b"};

    (void)state;
    GUARD_EACH(v, mr_view_kernels, mr_view_variants)
    for (uint32_t n = 0; n <= GUARD_ROWS; n++) {
        struct guard g = guard_open(0);
        char *text = guard_alloc(&g, n);
        uint64_t seed = n;
        for (uint32_t i = 0; i < n; i++)
            text[i] = guard_random(&seed) >> 30 & 3 ? 'a' : 'b';
        for (size_t k = 0; k < sizeof whats / sizeof *whats; k++) {
            const char *found = memmem(text, n, whats[k], strlen(whats[k]));
            assert_true((*v)->find(text, n, whats[k], strlen(whats[k])) ==
                        (found ? (uint64_t)(found - text) : UINT64_MAX));
        }
        guard_close(&g);
    }
}

enum { PIECE_ROOM = 48, PIECES = 4, TEXT_MAX = 70 };

struct pieces {
    char text[PIECES][PIECE_ROOM], mask[PIECES][PIECE_ROOM];
    struct mr_view_piece all[PIECES];
    struct mr_view_pattern pattern;
};

/* Of few letters, in either case, some of which do not count; n bytes, run as it must be. */
static void make_piece(struct pieces *p, uint32_t k, uint32_t n, uint64_t *seed)
{
    struct mr_view_piece *piece = &p->all[k];
    uint32_t from = 0;

    memset(p->text[k], 0, PIECE_ROOM);
    memset(p->mask[k], 0, PIECE_ROOM);
    *piece = (struct mr_view_piece){.text = p->text[k], .mask = p->mask[k], .n = n};
    for (uint32_t i = 0; i < n; i++) {
        const uint32_t kind = guard_random(seed) >> 30 & 15;
        p->mask[k][i] = (char)(kind == 0 ? 0 : kind < 3 ? 0xdf : 0xff);
        p->text[k][i] = (char)("ab"[guard_random(seed) >> 30 & 7 ? 0 : 1] & p -> mask[k][i]);
    }
    for (uint32_t i = 0; i <= n; i++) {
        if (i < n && (uint8_t)p->mask[k][i] == 0xff)
            continue;
        if (i - from > piece->run_n) {
            piece->run = from;
            piece->run_n = i - from;
        }
        from = i + 1;
    }
}

/* Whether pieces[0..n), with anything before the first one if it is not to begin text. */
static bool matches(const char *text, uint64_t text_n, const struct mr_view_piece *pieces,
                    uint32_t n, bool begins)
{
    if (n == 0)
        return begins ? text_n == 0 : true;
    for (uint64_t at = 0; at + pieces->n <= text_n && (at == 0 || !begins); at++) {
        bool same = true;
        for (uint32_t i = 0; i < pieces->n; i++)
            same = same && (text[at + i] & pieces->mask[i]) == pieces->text[i];
        const uint64_t rest = text_n - at - pieces->n;
        if (same &&
            (n > 1 ? matches(text + at + pieces->n, rest, pieces + 1, n - 1, false) : rest == 0))
            return true;
    }
    return false;
}

/* n texts, short ones in their views, the others one behind the other at the end of a heap. */
static void make_texts(uint64_t *views, char *heap, uint32_t n, uint64_t *seed)
{
    uint64_t used = 0;

    for (uint32_t i = 0; i < n; i++) {
        const uint32_t length = (uint32_t)(guard_random(seed) >> 30) % TEXT_MAX;
        char bytes[TEXT_MAX] = {0};
        for (uint32_t k = 0; k < length; k++)
            bytes[k] = "aabA"[guard_random(seed) >> 30 & 3];
        views[2 * i] = length;
        memcpy((char *)&views[2 * i] + 4, bytes, 12);
        if (length <= 12)
            continue;
        views[2 * i + 1] = used << 32;
        memcpy(heap + used, bytes, length);
        used += length;
    }
}

static void test_match(void **state)
{
    (void)state;
    GUARD_EACH(v, mr_view_kernels, mr_view_variants)
    for (uint32_t n = 1; n <= GUARD_ROWS; n++) {
        struct guard g = guard_open(n);
        struct pieces p;
        uint64_t *views = guard_alloc(&g, n * 16), seed = n;
        char *heap = guard_alloc(&g, (size_t)n * TEXT_MAX);
        uint8_t *const heaps[] = {(uint8_t *)heap};
        uint64_t bits[GUARD_ROWS / 64 + 1] = {0}, chosen[GUARD_ROWS / 64 + 1] = {0};
        make_texts(views, heap, n, &seed);
        p.pattern = (struct mr_view_pattern){p.all, n % PIECES + 1};
        for (uint32_t k = 0; k < PIECES; k++)
            make_piece(&p, k, (uint32_t)(guard_random(&seed) >> 30) % (n % 8 ? 5 : 33), &seed);
        (*v)->match(bits, NULL, n, views, heaps, &p.pattern);
        (*v)->match(chosen, g.sel, g.sel_n, views, heaps, &p.pattern);
        for (uint32_t i = 0; i < n; i++) {
            const uint32_t length = (uint32_t)views[2 * i];
            const char *text =
                length <= 12 ? (char *)&views[2 * i] + 4 : heap + (views[2 * i + 1] >> 32);
            assert_int_equal(bits[i / 64] >> (i % 64) & 1,
                             matches(text, length, p.all, p.pattern.pieces_n, true));
        }
        for (uint32_t i = 0; i < g.sel_n; i++)
            chosen[g.sel[i] / 64] ^= bits[g.sel[i] / 64] & (uint64_t)1 << (g.sel[i] % 64);
        for (uint32_t w = 0; w <= n / 64; w++)
            assert_int_equal(chosen[w], 0);
        guard_close(&g);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_views), cmocka_unit_test(test_ascii),
                                       cmocka_unit_test(test_span), cmocka_unit_test(test_find),
                                       cmocka_unit_test(test_match)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}

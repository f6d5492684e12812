/* Clocks per row of every kernel family, for each instruction set that this CPU has, in turn. The
 * best of many rounds counts: what disturbs makes a round longer, never shorter. Variants must give
 * the same bytes.
 *
 *   bench_kernels [real]        prints a table in Markdown; `real` runs long enough for figures
 */
#include "kernels/arith/arith.h"
#include "kernels/blend/blend.h"
#include "kernels/calendar/calendar.h"
#include "kernels/group/group.h"
#include "kernels/hash/hash.h"
#include "kernels/lines/lines.h"
#include "kernels/select/select.h"
#include "kernels/sparkhash/sparkhash.h"
#include "kernels/tally/tally.h"
#include "kernels/view/view.h"
#include "kernels/window/window.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    ROWS = 4096, /* as a batch has */
    WORDS_MAX = 4,
    GROUPS_SMALL = 32,
    GROUPS_LARGE = 1 << 20, /* beyond the L2 cache */
    LINE = 122,
    VARIANTS_MAX = 3,
};
#define GAIN_MIN 1.1 /* a variant below is not worth its code */

static struct {
    __int128 i128[2][ROWS + 64];
    int64_t i64[2][ROWS + 64], times[ROWS + 64];
    int32_t i32[2][ROWS + 64];
    int8_t i8[2][ROWS + 64];
    double f64[2][ROWS + 64];
    uint64_t half[ROWS / 64 + 1], few[ROWS / 64 + 1]; /* bits */
    uint32_t sel[ROWS];                               /* every other row */
    uint64_t keys[ROWS * WORDS_MAX], hashes[ROWS];
    struct mr_text texts[ROWS];
    uint8_t lines[ROWS * LINE + 64];
    uint64_t views[ROWS * MR_VIEW_WORDS + 64];  /* of 30 bytes in lines, a comma among them */
    uint64_t uneven[ROWS * MR_VIEW_WORDS + 64]; /* of 17 to 28 bytes */
    struct mr_group_cache cache;
} in;

static struct {
    union {
        __int128 i128[ROWS + 64];
        int64_t i64[ROWS + 64];
        double f64[ROWS + 64];
        uint64_t bits[ROWS + 64];
        int32_t i32[ROWS + 64];
    };
    uint32_t ids[ROWS * 2 + MR_LINES_SLACK], misses[ROWS];
    double lanes_f64[GROUPS_SMALL * MR_LANES];
    uint32_t lanes_u32[GROUPS_SMALL * MR_LANES];
    uint64_t n;
} out;

static struct table { /* of groups that have i as the first word of their key */
    struct mr_group_index index;
    uint64_t *entries;
    struct mr_text *texts;
    uint32_t groups;
} small, large;

static uint64_t random_state = 1;

static uint64_t next_random(void)
{
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    random_state ^= random_state << 17;
    return random_state;
}

static void *take(size_t bytes)
{
    void *p = aligned_alloc(64, (bytes + 127) / 64 * 64);

    if (p == NULL)
        exit(1);
    memset(p, 0, (bytes + 127) / 64 * 64);
    return p;
}

static void insert(struct table *t, uint64_t hash, uint32_t id)
{
    uint32_t g = (uint32_t)(hash >> 32) & t->index.mask;

    for (;; g = (g + 1) & t->index.mask)
        for (uint32_t i = g * MR_GROUP_TAGS; i < (g + 1) * MR_GROUP_TAGS; i++)
            if (t->index.tags[i] == 0) {
                t->index.tags[i] = mr_group_tag(hash);
                t->index.ids[i] = id;
                return;
            }
}

/* Keys are two words, whose bytes are the text too. */
static void make_table(struct table *t, uint32_t groups)
{
    const uint32_t slots = groups * 2 / MR_GROUP_TAGS < 4 ? 4 : groups * 2 / MR_GROUP_TAGS;
    uint64_t hash;

    *t = (struct table){.groups = groups, .index.mask = slots - 1};
    t->index.tags = take((size_t)slots * MR_GROUP_TAGS);
    t->index.ids = take((size_t)slots * MR_GROUP_TAGS * sizeof(uint32_t));
    t->entries = take((size_t)groups * 2 * sizeof(uint64_t));
    t->texts = take(groups * sizeof(struct mr_text));
    for (uint32_t g = 0; g < groups; g++) {
        t->entries[g * 2] = g;
        t->entries[g * 2 + 1] = UINT64_C(0x5555);
        t->texts[g] = (struct mr_text){(const char *)(t->entries + g * 2), 16};
        mr_hash_scalar.words(&hash, t->entries + g * 2, 2, 1);
        insert(t, hash, g);
    }
}

/* The keys of the batch: groups of the table, in no order. */
static void ask_for(const struct table *t)
{
    for (uint32_t i = 0; i < ROWS; i++) {
        uint32_t g = (uint32_t)(next_random() % t->groups);
        memcpy(in.keys + i * 2, t->entries + g * 2, 16);
        in.texts[i] = (struct mr_text){(const char *)(in.keys + i * 2), 16};
    }
    mr_hash_scalar.words(in.hashes, in.keys, 2, ROWS);
}

static void fill_cache(void)
{
    in.cache.generation = 1;
    for (uint32_t g = 0; g < small.groups; g++) {
        struct mr_group_place *p = &in.cache.places[mr_group_place(small.entries + g * 2, 2)];
        memcpy(p->words, small.entries + g * 2, 16);
        p->id = g;
        p->generation = 1;
    }
}

static void fill_input(void)
{
    for (uint32_t i = 0; i < ROWS; i++) {
        for (int k = 0; k < 2; k++) {
            in.i64[k][i] = (int64_t)(next_random() % 1000000);
            in.i32[k][i] = (int32_t)(next_random() % 10000);
            in.i8[k][i] = (int8_t)(next_random() % 100);
            in.f64[k][i] = (double)(next_random() % 4000) / 4;
        }
        in.i128[0][i] = (__int128)in.i64[0][i] * in.i64[1][i];
        in.i128[1][i] = -(__int128)in.i64[1][i];
        in.views[i * MR_VIEW_WORDS] = 30 | (uint64_t)0x61616161 << 32;
        in.views[i * MR_VIEW_WORDS + 1] = (uint64_t)(i * LINE + 40 + next_random() % 20) << 32;
        in.uneven[i * MR_VIEW_WORDS] = (17 + next_random() % 12) | (uint64_t)0x61616161 << 32;
        in.uneven[i * MR_VIEW_WORDS + 1] = in.views[i * MR_VIEW_WORDS + 1];
        in.times[i] = INT64_C(1767268800000000) + i * 1000 - (int64_t)(next_random() % 30000000);
        in.half[i / 64] |= (next_random() & 1) << (i % 64);
        in.few[i / 64] |= (uint64_t)(next_random() % 20 == 0) << (i % 64);
        memset(in.lines + i * LINE, 'a', LINE - 1);
        in.lines[i * LINE + 60] = ',';
        in.lines[(i + 1) * LINE - 1] = '\n';
    }
    for (uint32_t i = 0; i < ROWS / 2; i++)
        in.sel[i] = i * 2;
    make_table(&small, GROUPS_SMALL);
    make_table(&large, GROUPS_LARGE);
    fill_cache();
}

/* The loops. kernels: the variant's table. */
#define ARITH ((const struct mr_arith_kernels *)kernels)
#define BLEND ((const struct mr_blend_kernels *)kernels)
#define CALENDAR ((const struct mr_calendar_kernels *)kernels)
#define VIEW ((const struct mr_view_kernels *)kernels)
#define SELECT ((const struct mr_select_kernels *)kernels)
#define GROUP ((const struct mr_group_kernels *)kernels)
#define SPARKHASH ((const struct mr_sparkhash_kernels *)kernels)
#define HASH ((const struct mr_hash_kernels *)kernels)
#define LINES ((const struct mr_lines_kernels *)kernels)
#define TALLY ((const struct mr_tally_kernels *)kernels)
#define WINDOW ((const struct mr_window_kernels *)kernels)
#define LOOP(name, ...)                                                                            \
    static void name(const void *kernels)                                                          \
    {                                                                                              \
        __VA_ARGS__;                                                                               \
    }

/* Texts with middle in them that end by end. */
static uint8_t *const lines_heap[] = {in.lines};

static void match(const struct mr_view_kernels *kernels, const char *middle, const char *end)
{
    static const char mask[MR_VIEW_BLOCK] = {-1, -1, -1};
    char text[3][MR_VIEW_BLOCK] = {""};
    const uint32_t n[] = {0, (uint32_t)strlen(middle), (uint32_t)strlen(end)};
    char masks[3][MR_VIEW_BLOCK] = {""};
    struct mr_view_piece pieces[3];
    uint8_t *const heaps[] = {in.lines};

    memcpy(text[1], middle, n[1]);
    memcpy(text[2], end, n[2]);
    for (int k = 0; k < 3; k++) {
        memcpy(masks[k], mask, n[k]);
        pieces[k] = (struct mr_view_piece){text[k], masks[k], n[k], 0, n[k]};
    }
    kernels->match(out.bits, NULL, ROWS, in.views, heaps,
                   n[1] ? &(struct mr_view_pattern){pieces, 3}
                        : &(struct mr_view_pattern){pieces + 1, 2});
}

LOOP(add_i32, out.n = ARITH->i32[MR_ADD](out.i32, in.i32[0], in.i32[1], ROWS))
LOOP(multiply_i32, out.n = ARITH->i32[MR_MULTIPLY](out.i32, in.i32[0], in.i32[1], ROWS))
LOOP(add_i64, out.n = ARITH->i64[MR_ADD](out.i64, in.i64[0], in.i64[1], ROWS))
LOOP(multiply_i64, out.n = ARITH->i64[MR_MULTIPLY](out.i64, in.i64[0], in.i64[1], ROWS))
LOOP(add_by_i64, out.n = ARITH->i64_by[MR_ADD](out.i64, in.i64[0], in.i64[1], ROWS))
LOOP(multiply_f64, ARITH->f64[MR_MULTIPLY](out.f64, in.f64[0], in.f64[1], ROWS))
LOOP(add_i128, ARITH->i128[MR_ADD](out.i128, in.i128[0], in.i128[1], ROWS))
LOOP(sum_i128, out.i128[0] = ARITH->sum_i128(in.i128[0], NULL, ROWS))
LOOP(sum_valid_i128, out.i128[0] = ARITH->sum_i128(in.i128[0], in.half, ROWS))
LOOP(sqrt_f64, ARITH->sqrt_f64(out.f64, in.f64[0], ROWS))
LOOP(sum_i32, out.i64[0] = 0; ARITH->sum_i32(in.i32[0], NULL, ROWS, out.i64))
LOOP(sum_i64, out.i64[0] = 0; ARITH->sum_i64(in.i64[0], NULL, ROWS, out.i64))
LOOP(rest_i32, out.n = ARITH->rest_i32(out.i32, in.i32[0], in.i32[1], ROWS))
LOOP(quotient_f64, out.n = ARITH->quotient_f64_by(out.f64, in.f64[0], in.f64[1], ROWS))
LOOP(blend_4, BLEND->of[MR_BLEND_4](out.i32, in.i32[0], in.half, ROWS))
LOOP(blend_16, BLEND->of[MR_BLEND_16](out.i64, in.keys, in.half, ROWS / 2))
LOOP(year, out.n = CALENDAR->year(out.i32, in.i32[0], ROWS))
LOOP(days, CALENDAR->days(out.i32, in.times, ROWS))
LOOP(minute, CALENDAR->minute(out.i32, in.times, ROWS))
LOOP(lengths, VIEW->lengths(out.i32, in.keys, ROWS))
LOOP(span, const struct mr_view_span s = VIEW->span(in.uneven, ROWS); out.n = s.to - s.from)
LOOP(equal, VIEW->equal(out.bits, in.keys, in.keys + 2, ROWS))
LOOP(match_end, match(VIEW, "", "a,"))
LOOP(match_middle, match(VIEW, ",aa", ""))
LOOP(is_ascii, out.n = VIEW->is_ascii((const char *)in.i8[0], ROWS))
LOOP(eq_i8, SELECT->compare[MR_LANE_I8][MR_EQ](out.bits, in.i8[0], in.i8[1], ROWS))
LOOP(lt_i32, SELECT->compare[MR_LANE_I32][MR_LT](out.bits, in.i32[0], in.i32[1], ROWS))
LOOP(lt_i64, SELECT->compare[MR_LANE_I64][MR_LT](out.bits, in.i64[0], in.i64[1], ROWS))
LOOP(lt_by_i64, SELECT->compare_by[MR_LANE_I64][MR_LT](out.bits, in.i64[0], in.i64[1], ROWS))
LOOP(lt_by_f64, SELECT->compare_by[MR_LANE_F64][MR_LT](out.bits, in.f64[0], in.f64[1], ROWS))
LOOP(bits_half, out.n = SELECT->from_bits(out.ids, NULL, ROWS, in.half, NULL))
LOOP(bits_few, out.n = SELECT->from_bits(out.ids, NULL, ROWS, in.few, NULL))
LOOP(bits_sel, out.n = SELECT->from_bits(out.ids, in.sel, ROWS / 2, in.half, NULL))
LOOP(cached, out.n = GROUP->find_cached(&in.cache, 2, in.keys, NULL, ROWS, out.ids, out.misses))
LOOP(words_small, out.n = GROUP->find_words(&small.index, small.entries, 2, in.hashes, in.keys,
                                            ROWS, out.ids, out.misses))
LOOP(words_large, out.n = GROUP->find_words(&large.index, large.entries, 2, in.hashes, in.keys,
                                            ROWS, out.ids, out.misses))
LOOP(bytes_small, out.n = GROUP->find_bytes(&small.index, small.texts, in.hashes, in.texts, ROWS,
                                            out.ids, out.misses))
LOOP(hash_1, HASH->words(out.bits, in.keys, 1, ROWS))
LOOP(hash_2, HASH->words(out.bits, in.keys, 2, ROWS))
LOOP(murmur_u32, SPARKHASH->murmur_u32((uint32_t *)out.i32, (uint32_t *)in.i32[0], in.half, ROWS))
LOOP(murmur_u64, SPARKHASH->murmur_u64((uint32_t *)out.i32, in.keys, in.half, ROWS))
LOOP(murmur_texts,
     SPARKHASH->murmur_texts((uint32_t *)out.i32, in.uneven, lines_heap, NULL, NULL, ROWS))
LOOP(xxh64_u32, SPARKHASH->xxh64_u32(out.bits, (uint32_t *)in.i32[0], in.half, ROWS))
LOOP(xxh64_u64, SPARKHASH->xxh64_u64(out.bits, in.keys, in.half, ROWS))
LOOP(xxh64_texts, SPARKHASH->xxh64_texts(out.bits, in.uneven, lines_heap, NULL, NULL, ROWS))
LOOP(ends, uint32_t scanned;
     out.n = LINES->find_ends(out.ids, ROWS, in.lines, sizeof in.lines - 64, &scanned))
LOOP(byte, uint32_t scanned;
     out.n = LINES->find_byte(out.ids, ROWS, in.lines, sizeof in.lines - 64, ',', &scanned))
LOOP(count, TALLY->count(out.lanes_u32, in.sel, 0);
     TALLY->count(out.lanes_u32, (const uint32_t *)in.keys, ROWS))
LOOP(sum_f64, TALLY->sum_f64(out.lanes_f64, (const uint32_t *)in.keys, in.f64[0], NULL, NULL, ROWS))
LOOP(sum_f64_of_one, TALLY->sum_f64_of_one(out.lanes_f64, in.f64[0], in.few, ROWS))
LOOP(range, WINDOW->range((struct mr_time_range *)out.bits, in.times, NULL, NULL, ROWS))
LOOP(range_valid, WINDOW->range((struct mr_time_range *)out.bits, in.times, in.half, NULL, ROWS))
LOOP(starts, WINDOW->starts(out.i64, in.times, NULL, ROWS, 10000000, 0))
LOOP(starts_sel, WINDOW->starts(out.i64, in.times, in.sel, ROWS / 2, 10000000, 0))

static void ask_small(void)
{
    ask_for(&small);
}
static void ask_large(void)
{
    ask_for(&large);
}
static void group_numbers(void)
{
    uint32_t *ids = (uint32_t *)in.keys;

    for (uint32_t i = 0; i < ROWS; i++)
        ids[i] = (uint32_t)(next_random() % GROUPS_SMALL);
}

static const struct loop {
    const char *family, *what;
    void (*run)(const void *kernels);
    uint32_t rows;
    void (*prepare)(void);
} loops[] = {
    {"arith", "int + int", add_i32, ROWS, NULL},
    {"arith", "int * int", multiply_i32, ROWS, NULL},
    {"arith", "bigint + bigint", add_i64, ROWS, NULL},
    {"arith", "bigint * bigint", multiply_i64, ROWS, NULL},
    {"arith", "bigint + constant", add_by_i64, ROWS, NULL},
    {"arith", "double * double", multiply_f64, ROWS, NULL},
    {"arith", "decimal + decimal", add_i128, ROWS, NULL},
    {"arith", "sum of decimal", sum_i128, ROWS, NULL},
    {"arith", "sum of decimal, half null", sum_valid_i128, ROWS, NULL},
    {"arith", "root of a double", sqrt_f64, ROWS, NULL},
    {"arith", "sum of int", sum_i32, ROWS, NULL},
    {"arith", "sum of bigint", sum_i64, ROWS, NULL},
    {"arith", "int % int", rest_i32, ROWS, NULL},
    {"arith", "double / constant", quotient_f64, ROWS, NULL},
    {"blend", "values of 4 bytes, half", blend_4, ROWS, NULL},
    {"blend", "values of 16 bytes, half", blend_16, ROWS / 2, NULL},
    {"calendar", "year of a date", year, ROWS, NULL},
    {"calendar", "date of a time", days, ROWS, NULL},
    {"calendar", "minute of a time", minute, ROWS, NULL},
    {"group", "keys in the cache, 32 groups", cached, ROWS, ask_small},
    {"group", "keys of 2 words, 32 groups", words_small, ROWS, ask_small},
    {"group", "keys of 2 words, 1 M groups", words_large, ROWS, ask_large},
    {"group", "keys of 16 bytes, 32 groups", bytes_small, ROWS, ask_small},
    {"hash", "1 word", hash_1, ROWS, ask_small},
    {"hash", "2 words", hash_2, ROWS, ask_small},
    {"lines", "ends of lines of 122 bytes", ends, ROWS, NULL},
    {"lines", "one comma in 122 bytes", byte, ROWS, NULL},
    {"select", "tinyint = tinyint", eq_i8, ROWS, NULL},
    {"select", "int < int", lt_i32, ROWS, NULL},
    {"select", "bigint < bigint", lt_i64, ROWS, NULL},
    {"select", "bigint < constant", lt_by_i64, ROWS, NULL},
    {"select", "double < constant", lt_by_f64, ROWS, NULL},
    {"select", "bits to rows, 50 % set", bits_half, ROWS, NULL},
    {"select", "bits to rows, 5 % set", bits_few, ROWS, NULL},
    {"select", "bits of chosen rows", bits_sel, ROWS / 2, NULL},
    {"sparkhash", "Murmur3 of int, half null", murmur_u32, ROWS, NULL},
    {"sparkhash", "Murmur3 of bigint, half null", murmur_u64, ROWS, NULL},
    {"sparkhash", "Murmur3 of text", murmur_texts, ROWS, NULL},
    {"sparkhash", "XXH64 of int, half null", xxh64_u32, ROWS, NULL},
    {"sparkhash", "XXH64 of bigint, half null", xxh64_u64, ROWS, NULL},
    {"sparkhash", "XXH64 of text", xxh64_texts, ROWS, NULL},
    {"tally", "count, 32 groups", count, ROWS, group_numbers},
    {"tally", "sum of double, 32 groups", sum_f64, ROWS, group_numbers},
    {"tally", "sum of double, 1 group", sum_f64_of_one, ROWS, NULL},
    {"view", "lengths", lengths, ROWS, NULL},
    {"view", "where they lie", span, ROWS, NULL},
    {"view", "text = text", equal, ROWS, NULL},
    {"view", "text that ends by a,", match_end, ROWS, NULL},
    {"view", "text that has ,aa in it", match_middle, ROWS, NULL},
    {"view", "a byte: is it ASCII", is_ascii, ROWS, NULL},
    {"window", "range of times", range, ROWS, NULL},
    {"window", "range, half null", range_valid, ROWS, NULL},
    {"window", "starts", starts, ROWS, NULL},
    {"window", "starts of chosen rows", starts_sel, ROWS / 2, NULL},
};

enum { LOOPS_N = sizeof loops / sizeof *loops };

/* Every table of kernels begins with the name of its instruction set. */
static const char *isa_of(const void *kernels)
{
    return *(const char *const *)kernels;
}

static const void *const *variants_of(const char *family)
{
    static const struct {
        const char *name;
        const void *const *variants;
    } families[] = {
#define MR_FAMILY(name) {#name, (const void *const *)mr_##name##_variants},
#include "kernels/families.def"
#undef MR_FAMILY
    };
    size_t i = 0;

    while (strcmp(families[i].name, family) != 0)
        i++;
    return families[i].variants;
}

static uint64_t sum_of_output(void)
{
    const uint64_t *words = (const uint64_t *)(const void *)&out;
    uint64_t sum = 0;

    for (size_t i = 0; i < sizeof out / sizeof *words; i++)
        sum = (sum ^ words[i]) * UINT64_C(0x9e3779b97f4a7c15);
    return sum;
}

/* clocks[isa]: per row, the best of rounds; below 0: not there. false: variants differ. */
static bool measure(const struct loop *loop, int rounds, double *clocks)
{
    const void *const *variants = variants_of(loop->family);
    uint64_t sum = 0;
    bool same = true, first = true;

    if (loop->prepare)
        loop->prepare();
    for (int isa = 0; isa < VARIANTS_MAX; isa++)
        clocks[isa] = -1;
    for (int r = 0; r < rounds; r++)
        for (const void *const *v = variants; *v; v++) {
            int isa = 0;
            while (strcmp(mr_isa_name((enum mr_isa)isa), isa_of(*v)) != 0)
                isa++;
            if (isa > (int)mr_kernels_best())
                continue;
            memset(&out, 0, sizeof out);
            uint64_t before = __builtin_ia32_rdtsc();
            loop->run(*v);
            double took = (double)(__builtin_ia32_rdtsc() - before) / loop->rows;
            if (clocks[isa] < 0 || took < clocks[isa])
                clocks[isa] = took;
            if (r > 0)
                continue;
            same = same && (first || sum == sum_of_output());
            sum = sum_of_output();
            first = false;
        }
    return same;
}

/* How many times as fast a variant is as the next lower one that is there, over all loops of a
 * family. */
struct gain {
    double logarithms;
    uint32_t loops_n;
};

static void add_gain(struct gain *gains, const double *clocks)
{
    for (int isa = 1; isa < VARIANTS_MAX; isa++) {
        int lower = isa - 1;
        while (lower > 0 && clocks[lower] < 0)
            lower--;
        if (clocks[isa] < 0)
            continue;
        gains[isa].logarithms += log(clocks[lower] / clocks[isa]);
        gains[isa].loops_n++;
    }
}

static void print_gains(const char *family, struct gain *gains)
{
    if (gains[1].loops_n + gains[2].loops_n == 0)
        return;
    printf("| %s | **gain, geometric mean** | |", family);
    for (int isa = 1; isa < VARIANTS_MAX; isa++) {
        if (gains[isa].loops_n == 0) {
            printf(" |");
            continue;
        }
        double times = exp(gains[isa].logarithms / gains[isa].loops_n);
        printf(" **%.2fx**%s |", times, times < GAIN_MIN ? " too little" : "");
    }
    printf("\n");
    memset(gains, 0, VARIANTS_MAX * sizeof *gains);
}

int main(int argc, char **argv)
{
    const int rounds = argc > 1 && strcmp(argv[1], "real") == 0 ? 2000 : 20;
    struct gain gains[VARIANTS_MAX] = {0};
    bool good = true;

    fill_input();
    printf("| family | loop | scalar | AVX2 | AVX-512 |\n|---|---|---|---|---|\n");
    for (size_t i = 0; i < LOOPS_N; i++) {
        double clocks[VARIANTS_MAX];
        bool same = measure(&loops[i], rounds, clocks);
        printf("| %s | %s |", loops[i].family, loops[i].what);
        for (int isa = 0; isa < VARIANTS_MAX; isa++)
            clocks[isa] < 0 ? printf(" |") : printf(" %.2f |", clocks[isa]);
        printf("%s\n", same ? "" : " variants differ");
        good = good && same;
        add_gain(gains, clocks);
        if (i + 1 == LOOPS_N || strcmp(loops[i].family, loops[i + 1].family) != 0)
            print_gains(loops[i].family, gains);
    }
    return good ? 0 : 1;
}

/* exchange.h - rows from every worker to the owners of their keys.
 *
 * How      W x W pairs. The sender copies rows into packets of at most batch_rows rows; a ring
 *          takes them there, a ring brings them home. A pair has ring_slots packets: when none is
 *          at home the sender is blocked, which is the back-pressure. Rings hold all packets and
 *          the end marker, so a push never fails.
 * Hash     Of the encoded key columns (state/row.h), the same as in the state's tables, so that
 *          rows and state of a partition meet on its owner: owner = partition * W / 256. Without
 *          keys all rows go to worker 0. Encoded keys and hashes travel with the rows, so that the
 *          receiver need not make them again; columns that nobody above reads stay behind.
 * Threads  sender: the source worker. receiver: the target worker. A packet belongs to the one
 *          whose side it is on.
 */
#pragma once
#include "core/batch/builder.h"
#include "core/op/operator.h"
#include "core/ring/ring.h"
#include "core/run/shape.h"

struct mr_part;

struct mr_packet {
    struct mr_batch batch; /* what the receiver reads */
    struct mr_arena arena; /* the sender's */
    struct mr_builder *builders;
    struct mr_text *keys; /* of an exchange by hash */
    uint64_t *hashes;
    uint32_t rows;
    uint32_t source;
    bool is_end; /* no more rows of this epoch from that worker */
};

struct mr_exchange_pair {
    struct mr_ring there, back;
    struct mr_packet *packets; /* ring_slots of them, then the end marker */
    uint32_t used_n;           /* packets that were ever taken */
    struct mr_packet *open;    /* the one being filled */
    struct mr_packet **home;   /* came back, a stack */
    uint32_t home_n;
    /* Of the batch in hand: rows that go there, and their numbers among those selected; those
     * before rows_at are copied. */
    const uint32_t *rows, *selected;
    uint32_t rows_n, rows_at;
};

struct mr_exchange_sender {
    _Alignas(64) struct mr_arena scratch; /* of what follows, and lists of rows */
    bool in_hand;                         /* a batch is half sent */
    struct mr_text *keys;                 /* of its selected rows */
    uint64_t *hashes;
};

struct mr_exchange {
    const struct mr_node *node;
    const bool *ships; /* by column: whether it travels */
    uint32_t workers, slots;
    struct mr_exchange_pair *pairs;     /* [source * workers + target] */
    struct mr_exchange_sender *senders; /* by worker */
};

/* By the control thread, before and after all use. */
MR_NODISCARD enum mr_status mr_exchange_init(struct mr_exchange *x, const struct mr_shape *shape,
                                             uint32_t id, uint32_t workers, uint32_t slots,
                                             struct mr_arena *a, struct mr_error *err);
void mr_exchange_fini(struct mr_exchange *x);

/* By the worker of part, once, before its first send. */
void mr_exchange_open(struct mr_exchange *x, struct mr_part *part);
void mr_exchange_close(struct mr_exchange *x, struct mr_part *part);

/* MR_NEED_INPUT: all rows were copied. MR_BLOCKED: call again with the same batch. */
enum mr_step mr_exchange_send(struct mr_exchange *x, struct mr_part *part,
                              const struct mr_batch *in);
/* What is half full goes out, and the end markers. */
void mr_exchange_end(struct mr_exchange *x, struct mr_part *part);

/* The next packet for part from any worker, NULL if none is there. at is where to look first. */
struct mr_packet *mr_exchange_receive(struct mr_exchange *x, struct mr_part *part, uint32_t *at);
void mr_exchange_give_back(struct mr_exchange *x, struct mr_part *part, struct mr_packet *packet);

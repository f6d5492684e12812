/* decoder.h - the file format json: lines (or one text a file) -> batches. */
#pragma once
#include "core/format/json/plan.h"

MR_NODISCARD enum mr_status json_decoder_open(const struct mr_decoder_config *config,
                                              struct mr_arena *a, struct mr_decoder **out,
                                              struct mr_error *err);
void json_decoder_close(struct mr_decoder *d);
/* From now on every record goes the exact way: tests compare the two. */
void json_decoder_force_exact(struct mr_decoder *d);
void json_decoder_begin(struct mr_decoder *d);
MR_NODISCARD enum mr_status json_decode(struct mr_decoder *d, const uint8_t *data, uint64_t n,
                                        bool at_end, struct mr_arena *scratch, struct mr_batch *out,
                                        uint64_t *used, struct mr_error *err);

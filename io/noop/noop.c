#include "io/noop/noop.h"

#include "io/options.h"

static const char *const options[] = {NULL};

static enum mr_status check(const struct mr_sink_config *config, struct mr_error *err)
{
    return mr_io_options_check(config->options, config->options_n, options, "sink noop", err);
}

static enum mr_status writer_open(void *writer, const struct mr_sink_config *config,
                                  void *committer, uint32_t worker, struct mr_error *err)
{
    (void)writer, (void)config, (void)committer, (void)worker, (void)err;
    return MR_OK;
}

static void writer_close(void *writer)
{
    (void)writer;
}

static enum mr_step write(void *writer, uint64_t epoch, const struct mr_batch *batch,
                          struct mr_error *err)
{
    (void)writer, (void)epoch, (void)batch, (void)err;
    return MR_NEED_INPUT;
}

static enum mr_step prepare(void *writer, uint64_t epoch, struct mr_buffer *out,
                            struct mr_error *err)
{
    (void)writer, (void)epoch, (void)out, (void)err;
    return MR_NEED_INPUT;
}

const struct mr_sink_ops mr_sink_noop = {
    .name = "noop",
    .modes = 1 << MR_APPEND | 1 << MR_UPDATE | 1 << MR_COMPLETE,
    .options = options,
    .check = check,
    .writer_open = writer_open,
    .writer_close = writer_close,
    .write = write,
    .prepare = prepare,
};

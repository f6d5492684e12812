/* All sources and sinks, by name. */
#include "io/console/console.h"
#include "io/file/file_sink.h"
#include "io/file/file_source.h"
#include "io/memory/memory.h"
#include "io/noop/noop.h"
#include "io/rate/rate.h"
#include "io/socket/socket.h"
#ifdef MR_HAVE_KAFKA
#include "io/kafka/kafka_source.h"
#endif

static const struct mr_source_ops *const sources[] = {
    &mr_source_csv,    &mr_source_json,
#ifdef MR_HAVE_KAFKA
    &mr_source_kafka,
#endif
    &mr_source_memory, &mr_source_rate, &mr_source_rate_micro_batch,
    &mr_source_socket, &mr_source_text, NULL,
};

static const struct mr_sink_ops *const sinks[] = {
    &mr_sink_console, &mr_sink_csv,  &mr_sink_json,
#ifdef MR_HAVE_KAFKA
    &mr_sink_kafka,
#endif
    &mr_sink_memory,  &mr_sink_noop, &mr_sink_text, NULL,
};

static const char *const source_names[] = {
    "csv",    "json",
#ifdef MR_HAVE_KAFKA
    "kafka",
#endif
    "memory", "rate", "rate-micro-batch", "socket", "text", NULL,
};

static const char *const sink_names[] = {
    "console", "csv",  "json",
#ifdef MR_HAVE_KAFKA
    "kafka",
#endif
    "memory",  "noop", "text", NULL,
};

_Static_assert(sizeof sources == sizeof source_names, "a name for each source");
_Static_assert(sizeof sinks == sizeof sink_names, "a name for each sink");

const struct mr_source_ops *mr_source_find(const char *format)
{
    for (uint32_t i = 0; sources[i]; i++)
        if (mr_text_equal_ignoring_case(mr_text_of(sources[i]->name), mr_text_of(format)))
            return sources[i];
    return NULL;
}

const struct mr_sink_ops *mr_sink_find(const char *format)
{
    for (uint32_t i = 0; sinks[i]; i++)
        if (mr_text_equal_ignoring_case(mr_text_of(sinks[i]->name), mr_text_of(format)))
            return sinks[i];
    return NULL;
}

const char *const *mr_source_names(void)
{
    return source_names;
}

const char *const *mr_sink_names(void)
{
    return sink_names;
}

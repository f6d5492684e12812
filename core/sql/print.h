/* print.h - what the two printers share. */
#pragma once
#include "core/sql/ast.h"

void mr_print_name(const char *name, struct mr_buffer *out);
void mr_print_names(const char *const *names, uint32_t n, const char *between,
                    struct mr_buffer *out);
void mr_print_expressions(struct mr_ast *const *items, uint32_t n, struct mr_buffer *out);

/* top_lines.c - see top_lines.h. */
#include "distance/count/top_lines.h"

#include <stdlib.h>
#include <string.h>

#define PREFETCH 16u

int rsc_top_lines_init(struct rsc_top_lines *top, uint32_t wanted, uint64_t at_bytes, uint32_t line_shift,
                       uint64_t rd_cap) {
    uint64_t lines = at_bytes >> line_shift;
    *top = (struct rsc_top_lines){.at_bytes = at_bytes, .line_shift = line_shift, .wanted = wanted};
    top->misses_from = lines < 1 ? 1 : lines < UINT32_MAX ? (uint32_t)lines : UINT32_MAX;
    top->cap = rd_cap && rd_cap < UINT32_MAX ? (uint32_t)rd_cap : UINT32_MAX;
    top->object = calloc(RSC_TOP_LINES_TABLE, sizeof *top->object);
    if (top->object && rsc_space_saving_init(&top->table, RSC_TOP_LINES_TABLE) == 0) return 0;
    rsc_top_lines_free(top);
    return RSC_ENOMEM;
}

void rsc_top_lines_free(struct rsc_top_lines *top) {
    rsc_space_saving_free(&top->table);
    free(top->object);
    memset(top, 0, sizeof *top);
}

void rsc_top_lines_count(struct rsc_top_lines *top, const uint64_t *lines, const uint32_t *rd, const uint64_t *objects,
                         uint32_t count) {
    struct rsc_space_saving *table = &top->table;
    for (uint32_t i = 0; i < count; i++) {
        if (i + PREFETCH < count) rsc_space_saving_prefetch(table, rsc_space_saving_hash(lines[i + PREFETCH]));
        uint32_t row = rsc_space_saving_find(table, lines[i]), bin = rsc_tally_bin(rd[i], top->cap);
        if (rd[i] < top->misses_from) {
            if (row != RSC_SPACE_NO_ROW) rsc_tally_add(&table->tally, row, bin);
            continue;
        }
        if (row == RSC_SPACE_NO_ROW) row = rsc_space_saving_admit(table, lines[i]);
        rsc_space_saving_add(table, row, bin);
        top->object[row] = objects ? objects[i] : 0;
    }
}

/* Rows of the table, sorted by their certain misses. */
struct ranked {
    uint64_t certain, line;
    uint32_t row;
};

static int worse_first(const void *left, const void *right) {
    const struct ranked *a = left, *b = right;
    if (a->certain != b->certain) return a->certain < b->certain ? 1 : -1;
    return a->line < b->line ? -1 : a->line > b->line;
}

int rsc_top_lines_fill(struct rsc_top_lines *top, struct rsc_profile *profile, uint64_t *objects) {
    struct rsc_space_saving *table = &top->table;
    struct ranked *list = malloc((table->used + 1ull) * sizeof *list);
    if (!list) return RSC_ENOMEM;
    for (uint32_t row = 0; row < table->used; row++)
        list[row] = (struct ranked){table->rows[row].count - table->error[row], table->rows[row].key, row};
    qsort(list, table->used, sizeof *list, worse_first);
    uint32_t kept = table->used < top->wanted ? table->used : top->wanted;
    int status = rsc_profile_set_lines(profile, kept);
    profile->lines_at_bytes = top->at_bytes;
    profile->lines_asked = top->wanted;
    for (uint32_t i = 0; status == 0 && i < kept; i++) {
        struct rsc_line_row *row = &profile->lines[i];
        row->address = list[i].line << top->line_shift;
        row->misses = table->rows[list[i].row].count;
        row->error = table->error[list[i].row];
        row->references = rsc_tally_read(&table->tally, list[i].row, &row->cold, &row->rd);
        objects[i] = top->object[list[i].row];
    }
    free(list);
    return status == 0 && table->tally.failed ? RSC_ENOMEM : status;
}

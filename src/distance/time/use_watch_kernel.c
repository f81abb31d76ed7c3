/*
 * use_watch_kernel.c - the loop of use_watch.h; compiled once per vector width.
 *
 * A block is looked up as a whole, then its drawn uses are added to the table: reuses
 * of these within the block are found by comparing lines. The order does not matter,
 * since a drawn use first ends the watch of its own line.
 */
#include "base/cpu.h"
#include "distance/exact/line_runs.h"
#include "distance/time/use_watch.h"

/* Lists the references that may be watched, by the tags, in watch->candidates, and lines of the line sample. Returns
 * how many may be. */
static inline __attribute__((always_inline)) uint32_t look_up(struct rsc_use_watch *watch,
                                                              struct rsc_watch_found *found) {
    const uint64_t most = watch->rate_shift ? UINT64_MAX >> watch->rate_shift : UINT64_MAX;
    const uint64_t *line = found->line;
    uint32_t candidates = 0, sampled = 0, i = 0;
#if defined(__AVX512BW__) && defined(__AVX512DQ__)
    const __m512i offset = _mm512_set1_epi64((int64_t)watch->offset), limit = _mm512_set1_epi64((int64_t)most);
    const __m512i buckets = _mm512_set1_epi64(watch->bucket_mask);
    const __m512i second_byte = _mm512_set4_epi32(0x09090909, 0x09090909, 0x01010101, 0x01010101);
    for (; i + 8 <= found->listed_count; i += 8) {
        __m512i hash = rsc_line_hash_8(_mm512_loadu_si512(line + i), offset);
        __m512i bucket = _mm512_and_si512(_mm512_srli_epi64(hash, 20), buckets);
        __m512i tags = _mm512_i64gather_epi64(bucket, watch->tags, 8);
        __m512i tag = _mm512_max_epu8(_mm512_shuffle_epi8(hash, second_byte), _mm512_set1_epi8(1));
        __m512i same = _mm512_movm_epi8(_mm512_cmpeq_epi8_mask(tags, tag));
        __mmask8 maybe = _mm512_test_epi64_mask(same, same), has = _mm512_cmple_epu64_mask(hash, limit);
        __m256i number = _mm256_add_epi32(_mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7), _mm256_set1_epi32((int)i));
        _mm256_storeu_si256((__m256i *)(watch->candidates + candidates), _mm256_maskz_compress_epi32(maybe, number));
        candidates += (uint32_t)__builtin_popcount(maybe);
        for (uint32_t left = has; left; left &= left - 1) found->sampled[sampled++] = i + (uint32_t)__builtin_ctz(left);
    }
#endif
    for (; i < found->listed_count; i++) {
        uint64_t hash = rsc_line_hash(line[i], watch->offset);
        uint64_t tags = watch->tags[rsc_watch_bucket(watch, hash)];
        watch->candidates[candidates] = i;
        candidates += rsc_zero_bytes(tags ^ rsc_watch_tag(hash) * 0x0101010101010101ull) != 0;
        found->sampled[sampled] = i;
        sampled += hash <= most;
    }
    found->sampled_count = sampled;
    return candidates;
}

static inline void end_watch(struct rsc_use_watch *watch, struct rsc_watch_found *found, uint32_t use,
                             uint64_t interval) {
    watch->ended[rsc_bin_of_fine_any(interval)]++;
    watch->epoch[rsc_bin_of_fine_any(interval)]++;
    watch->ended_sum += interval;
    found->ended[found->ended_count] = use;
    found->ended_ri[found->ended_count++] = interval;
}

/* The place where the line is watched, or UINT64_MAX. */
static inline uint64_t find_place(const struct rsc_use_watch *watch, uint64_t line) {
    uint64_t hash = rsc_line_hash(line, watch->offset), tags, first;
    uint32_t bucket = rsc_watch_bucket(watch, hash);
    tags = watch->tags[bucket] ^ rsc_watch_tag(hash) * 0x0101010101010101ull;
    first = (uint64_t)bucket * RSC_WATCH_PLACES;
    for (uint64_t zero = rsc_zero_bytes(tags); zero; zero &= zero - 1) {
        uint32_t place = (uint32_t)__builtin_ctzll(zero) >> 3;
        if (watch->line[first + place] == line && !(tags >> 8 * place & 0xff)) return first + place;
    }
    return UINT64_MAX;
}

/* The first of line[from .. count-1] that is `line`; count: none. */
static inline __attribute__((always_inline)) uint32_t find_line(const uint64_t *lines, uint32_t from, uint32_t count,
                                                                uint64_t line) {
    uint32_t i = from;
#if defined(__AVX512F__)
    const __m512i wanted = _mm512_set1_epi64((int64_t)line);
    for (; i + 32 <= count; i += 32) {
        __mmask8 a = _mm512_cmpeq_epi64_mask(_mm512_loadu_si512(lines + i), wanted);
        __mmask8 b = _mm512_cmpeq_epi64_mask(_mm512_loadu_si512(lines + i + 8), wanted);
        __mmask8 c = _mm512_cmpeq_epi64_mask(_mm512_loadu_si512(lines + i + 16), wanted);
        __mmask8 d = _mm512_cmpeq_epi64_mask(_mm512_loadu_si512(lines + i + 24), wanted);
        uint32_t any = a | (uint32_t)b << 8 | (uint32_t)c << 16 | (uint32_t)d << 24;
        if (any) return i + (uint32_t)__builtin_ctz(any);
    }
#else
    for (; i + 16 <= count; i += 16) {
        const uint64_t *group = lines + i;
        uint64_t any = 0;
        for (int k = 0; k < 16; k++) any |= group[k] == line;
        if (any) break;
    }
#endif
    while (i < count && lines[i] != line) i++;
    return i;
}

static inline __attribute__((always_inline)) int use_watch_kernel(struct rsc_use_watch *watch, const uint64_t *lines,
                                                                  uint32_t count, struct rsc_watch_found *found) {
    const uint64_t start = watch->now + 1;
    uint32_t listed = !watch->has_before || lines[0] != watch->before;
    int status = 0;
    found->line[0] = lines[0];
    found->index[0] = 0;
    found->ended_count = 0;
    found->listed_count = listed = rsc_line_runs(lines, count, listed, found->line, found->index);
    if (found->index[0] && watch->has_before) { /* the run of the last block continues, and so does its last use */
        uint64_t place = find_place(watch, watch->before);
        if (place != UINT64_MAX) watch->time[place] = watch->now + found->index[0];
    }
    uint32_t candidates = look_up(watch, found);
    for (uint32_t i = 0; i < candidates; i++) {
        uint32_t use = watch->candidates[i];
        uint64_t place = find_place(watch, found->line[use]);
        if (place == UINT64_MAX) continue;
        watch->tags[place / RSC_WATCH_PLACES] &= ~(0xffull << 8 * (place % RSC_WATCH_PLACES));
        watch->watched--;
        end_watch(watch, found, use, start + found->index[use] - watch->time[place]);
    }
    while (status == 0 && watch->draw_at < watch->seen + listed) {
        uint32_t use = (uint32_t)(watch->draw_at - watch->seen);
        uint64_t until = start + found->index[use + 1] - 1; /* the last of its run */
        uint32_t next = find_line(found->line, use + 1, listed, found->line[use]);
        if (next < listed) end_watch(watch, found, next, start + found->index[next] - until);
        else status = rsc_use_watch_add(watch, found->line[use], until);
        watch->epoch_drawn++;
        rsc_use_watch_draw(watch);
    }
    watch->ended_total += found->ended_count;
    watch->samples += found->ended_count;
    watch->seen += listed;
    watch->uses += listed;
    watch->now += count;
    watch->before = lines[count - 1];
    watch->has_before = 1;
    return status;
}

int RSC_WIDE(rsc_use_watch_run)(struct rsc_use_watch *watch, const uint64_t *lines, uint32_t count,
                                struct rsc_watch_found *found) {
    return use_watch_kernel(watch, lines, count, found);
}

/*
 * transactions.c - transfers between accounts in hash buckets, pthreads with one lock a bucket, as a transactional
 * program takes them: look up both, move money, sometimes add up a bucket. Money is neither made nor lost.
 */
#include "program.h"

#define BUCKETS 4096
#define ACCOUNTS 65536
struct account {
    struct account *next;
    uint64_t key;
    int64_t money;
    uint64_t changes[4];
};
static struct {
    pthread_mutex_t lock;
    struct account *first;
} buckets[BUCKETS];
static struct account accounts[ACCOUNTS];
static long transfers;

static unsigned bucket_of(uint64_t key) { return (unsigned)(key * 0x9E3779B97F4A7C15ull >> 52); }

static struct account *find(uint64_t key) {
    struct account *account = buckets[bucket_of(key)].first;
    while (account && account->key != key) account = account->next;
    return account;
}

static void *work(void *argument) {
    uint64_t seed = (uint64_t)(intptr_t)argument + 11;
    for (long i = 0; i < transfers / threads; i++) {
        double skew = next_fraction(&seed);
        uint64_t from = (uint64_t)(skew * skew * skew * ACCOUNTS), to = next_random(&seed) % ACCOUNTS;
        unsigned a = bucket_of(from), b = bucket_of(to), low = a < b ? a : b, high = a < b ? b : a;
        if (a == b) continue;
        pthread_mutex_lock(&buckets[low].lock);
        pthread_mutex_lock(&buckets[high].lock);
        struct account *payer = find(from), *paid = find(to);
        payer->money -= 5;
        paid->money += 5;
        payer->changes[i & 3]++;
        paid->changes[i & 3]++;
        pthread_mutex_unlock(&buckets[high].lock);
        pthread_mutex_unlock(&buckets[low].lock);
    }
    return NULL;
}

int main(int argc, char **argv) {
    arguments(argc, argv);
    transfers = (long)(1000000 * size);
    for (int i = 0; i < BUCKETS; i++) pthread_mutex_init(&buckets[i].lock, NULL);
    for (int i = 0; i < ACCOUNTS; i++) {
        accounts[i] = (struct account){buckets[bucket_of((uint64_t)i)].first, (uint64_t)i, 1000, {0}};
        buckets[bucket_of((uint64_t)i)].first = &accounts[i];
    }
    in_threads(work);
    int64_t sum = 0;
    for (int i = 0; i < ACCOUNTS; i++) sum += accounts[i].money;
    return result("transactions", sum == 1000 * ACCOUNTS, (double)sum);
}

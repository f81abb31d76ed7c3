/*
 * ordered_cpp HOW TURNS: as ordered.c, for the C++ library: threads take turns at the same lines, ordered by HOW they
 * synchronise. Truth as there.
 */
#include <atomic>
#include <barrier>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <future>
#include <latch>
#include <memory>
#include <mutex>
#include <new>
#include <semaphore>
#include <shared_mutex>
#include <thread>
#include <vector>

constexpr long THREADS = 3, LINES = 33;
struct alignas(64) line {
    volatile long value;
};
static line *data; /* [LINES] */
static struct alignas(64) {
    long made, misses, last = -1;
} now;
static long turns;

extern "C" __attribute__((noinline)) void take_turn(long self) {
    if (now.last != self) now.misses += LINES;
    now.last = self;
    for (int sweep = 0; sweep < 2; sweep++)
        for (long i = 0; i < LINES; i++) data[i].value = now.made;
    now.made++;
}

/* In a turn each thread but one waits; `wait` ends the turn. */
template <typename Wait> static void in_turns(long self, Wait wait) {
    for (long turn = 0; turn < turns; turn++) {
        if (turn % THREADS == self) take_turn(self);
        wait(turn);
    }
}

static std::barrier<> turn_ends(THREADS);
static std::counting_semaphore<8> first(1), second(0), third(0), *const semaphores[] = {&first, &second, &third};
static std::vector<std::unique_ptr<std::latch>> latches;
static std::mutex mutex;
static std::timed_mutex timed_mutex;
static std::shared_mutex shared_mutex;
static std::condition_variable condition;
static std::atomic<long> waited;

static void by_barrier(long self) {
    in_turns(self, [](long) { turn_ends.arrive_and_wait(); });
}
static void by_latch(long self) {
    in_turns(self, [](long turn) { latches[turn]->arrive_and_wait(); });
}
static void by_semaphore(long self) {
    for (long turn = self; turn < turns; turn += THREADS) {
        semaphores[self]->acquire();
        take_turn(self);
        semaphores[(self + 1) % THREADS]->release();
    }
}
static void by_atomic_wait(long self) {
    for (long turn = self; turn < turns; turn += THREADS) {
        for (long seen = waited; seen != turn; seen = waited) waited.wait(seen);
        take_turn(self);
        waited = turn + 1;
        waited.notify_all();
    }
}
static void by_condition(long self) {
    std::unique_lock<std::mutex> lock(mutex);
    while (now.made < turns) {
        condition.wait(lock, [=] { return now.made >= turns || now.made % THREADS == self; });
        if (now.made < turns) take_turn(self);
        condition.notify_all();
    }
}
static void by_timed(long self) {
    for (long turn = self; turn < turns;) {
        if (!timed_mutex.try_lock_for(std::chrono::hours(1))) std::abort();
        if (now.made == turn) {
            take_turn(self);
            turn += THREADS;
        }
        timed_mutex.unlock();
        std::this_thread::yield();
    }
}
static void by_shared(long self) {
    for (long turn = self; turn < turns;) {
        bool mine;
        {
            std::shared_lock<std::shared_mutex> lock(shared_mutex);
            mine = now.made == turn;
        }
        if (mine) {
            std::lock_guard<std::shared_mutex> lock(shared_mutex);
            take_turn(self);
            turn += THREADS;
        } else std::this_thread::yield();
    }
}

int main(int argc, char **argv) {
    static const struct {
        const char *name;
        void (*run)(long);
    } ways[] = {{"barrier", by_barrier},         {"latch", by_latch}, {"semaphore", by_semaphore},
                {"atomic-wait", by_atomic_wait}, {"condition", by_condition}, {"timed", by_timed},
                {"shared", by_shared}};
    void (*how)(long) = nullptr;
    if (argc < 3) return 2;
    turns = std::atol(argv[2]);
    data = static_cast<line *>(std::aligned_alloc(64, LINES * sizeof(line)));
    for (long i = 0; i < turns; i++) latches.push_back(std::make_unique<std::latch>(THREADS));
    for (const auto &way : ways)
        if (!std::strcmp(argv[1], way.name)) how = way.run;
    if (!std::strcmp(argv[1], "future")) { /* another thread's turn, or one's own */
        for (long turn = 0; turn < turns; turn++)
            if (turn % 2) std::async(std::launch::async, take_turn, turn).get();
            else take_turn(0);
    } else if (how) {
        std::vector<std::thread> threads;
        for (long i = 0; i < THREADS; i++) threads.emplace_back(how, i);
        for (auto &thread : threads) thread.join();
    } else return 2;
    std::printf("%zu %ld %ld\n", LINES * sizeof(line), now.made * 2 * LINES, now.misses);
    return 0;
}

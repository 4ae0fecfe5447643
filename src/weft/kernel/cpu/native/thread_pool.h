// Jobs that several threads share (weft.kernel.cpu.thread_pool), and launches one after the other.
#pragma once

#include "types.h"

// Places in the memory that threads share, in units of eight bytes. Numbers that several threads
// change have a cache line of their own. Place 0: how many threads may take part, 0 while no job is
// open.
constexpr int NEXT = 8;       // the next piece of the job
constexpr int INSIDE = 16;    // how many threads are inside of the job
constexpr int JOB = 24;       // pieces, indices, the first index, kernels
constexpr int KERNELS = 28;   // of each kernel its entry point and the length of its arguments
constexpr int AWAKE = 48;     // of each thread 1 while it is awake
constexpr int ARGUMENTS = 80; // of each kernel
constexpr int ROOM = 512;     // for the arguments of one kernel
constexpr int PIECES = 16;    // of a thread

// Places in an array of recorded launches (weft.kernel.cpu.recorded_launches). In its head are the next
// launch, the one behind the last, threads, how often the launches are repeated at most, the launch
// to begin again with, the address of an int that ends the repetition when it is 0, and the place of
// each launch. A launch is its entry point, its indices, how many threads it is worth, the length of
// its arguments, its arguments.
constexpr int HEAD = 6;
constexpr int LAUNCH = 4;

// Let the other hardware thread of a core run while this one waits.
inline void rest() {
#if defined(__clang__) && !defined(__CUDACC__)
#if defined(__x86_64__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __builtin_arm_yield();
#endif
#endif
}

// Run n indices of a kernel. The structure is Warp's launch_bounds_t<1> (see warp_private.py).
inline void run(long long entry, long long n, void* arguments) {
#if defined(__clang__) && !defined(__CUDACC__)
    struct {
        unsigned int shape, none;
        unsigned long long size, each;
    } bounds = {(unsigned int)n, 0, (unsigned long long)n, 1};
    ((void (*)(void*, void*))entry)(&bounds, arguments);
#endif
}

// Take pieces of the open job (m is the shared memory) until none is left. Each thread copies the
// arguments of a kernel, because the first one is the index at which its piece begins.
inline void work(long long* m) {
#if defined(__clang__) && !defined(__CUDACC__)
    const long long pieces = m[JOB], n = m[JOB + 1], begin = m[JOB + 2], stages = m[JOB + 3];
    for (;;) {
        const long long piece = __atomic_fetch_add(m + NEXT, 1, __ATOMIC_ACQ_REL);
        if (piece >= pieces)
            return;
        const long long a = n * piece / pieces, b = n * (piece + 1) / pieces;
        for (long long s = 0; s < stages && a < b; ++s) {
            const long long* kernel = m + KERNELS + 2 * s;
            alignas(16) long long own[ROOM];
            for (long long k = 0; k < kernel[1]; ++k)
                own[k] = m[ARGUMENTS + ROOM * s + k];
            *(int*)own = (int)(begin + a);
            run(kernel[0], b - a, own);
        }
    }
#endif
}

// Open the job for some threads, take part, close it, and look at most `most` times whether other
// threads are still inside.
inline void lead_job(long long* m, long long threads, int most) {
#if defined(__clang__) && !defined(__CUDACC__)
    __atomic_store_n(m, threads, __ATOMIC_SEQ_CST);
    work(m);
    __atomic_store_n(m, 0, __ATOMIC_SEQ_CST);
    for (int k = 0; k < most && __atomic_load_n(m + INSIDE, __ATOMIC_SEQ_CST) > 0; ++k)
        rest();
#endif
}

// Lead the job that is written in `shared`. Native, because it takes 50 us to wake a thread that
// waits in Python, and a launch of ten thousand indices takes 100.
void open_and_work(wp::array_t<int64> shared, int threads, int most) {
    lead_job((long long*)shared.data, threads, most);
}

// Run recorded launches in turn, and lead those that are worth several threads as jobs. Repeat them
// while a condition holds, but not too often, because an interrupt is only seen in Python. It returns
// early when a thread stays inside of a job for long: the caller waits and calls again. Native,
// because Python takes 1.5 us for a launch, and one iteration of conjugate gradients is a dozen.
void open_one_by_one(wp::array_t<int64> shared, wp::array_t<int64> launches, int most) {
#if defined(__clang__) && !defined(__CUDACC__)
    long long* m = (long long*)shared.data;
    long long* s = (long long*)launches.data;
    while (s[0] < s[1]) {
        long long* one = s + s[HEAD + s[0]++];
        const long long n = one[1], words = one[3], threads = one[2] < s[2] ? one[2] : s[2];
        if (n > 0 && threads <= 1) {
            run(one[0], n, one + LAUNCH);
        } else if (n > 0) {
            m[JOB] = PIECES * threads;
            m[JOB + 1] = n;
            m[JOB + 2] = 0;
            m[JOB + 3] = 1;
            m[KERNELS] = one[0];
            m[KERNELS + 1] = words;
            for (long long k = 0; k < words; ++k)
                m[ARGUMENTS + k] = one[LAUNCH + k];
            m[NEXT] = 0;
            lead_job(m, threads, most);
            if (__atomic_load_n(m + INSIDE, __ATOMIC_SEQ_CST) > 0)
                break;
        }
        if (s[0] == s[1] && s[3] > 1 && *(int*)s[5] != 0) {
            s[3]--;
            s[0] = s[4];
        }
    }
#endif
}

// Take part in one job after another as thread number `own`, until no job was open for `most`
// looks. Native, because a thread that waits in Python needs the interpreter lock to see a job.
void work_along(wp::array_t<int64> shared, int own, int most) {
#if defined(__clang__) && !defined(__CUDACC__)
    long long* m = (long long*)shared.data;
    for (int k = 0; k < most; ++k) {
        const long long open = __atomic_load_n(m, __ATOMIC_RELAXED);
        if (open > own) {
            __atomic_fetch_add(m + INSIDE, 1, __ATOMIC_SEQ_CST);
            if (__atomic_load_n(m, __ATOMIC_SEQ_CST) > own) {
                work(m);
                k = 0;
            }
            __atomic_fetch_sub(m + INSIDE, 1, __ATOMIC_SEQ_CST);
        }
        if (open < 0)
            break;
        rest();
    }
    __atomic_store_n(m + AWAKE + own, 0, __ATOMIC_SEQ_CST);
#endif
}

// Wait until no thread is inside of a job. Native, so that an interrupt (Ctrl-C, a timeout) cannot
// end the wait: the caller's arrays are freed with its frames, and threads that are inside write to
// them.
void wait_for_others(wp::array_t<int64> shared) {
#if defined(__clang__) && !defined(__CUDACC__)
    long long* m = (long long*)shared.data;
    while (__atomic_load_n(m + INSIDE, __ATOMIC_SEQ_CST) > 0)
        rest();
#endif
}

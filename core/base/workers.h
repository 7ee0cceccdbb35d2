// core/base/workers.h: splits a loop over all cores and waits for the end.
//
// This is the only way the simulation uses threads. There are no futures and no detached tasks:
// when fm_workers_run() returns, no worker touches simulation data.

#pragma once

#include "core/base/memory.h"
#include "core/base/status.h"

#ifndef FM_WORKERS_MAX // less for fuzz targets, see CMakeLists.txt
#define FM_WORKERS_MAX 64u
#endif

typedef struct fm_workers fm_workers;

/// Handles items begin..end-1. Called many times, from several threads at once, with ranges that
/// never overlap. `worker` is 0..worker_count-1 and names the calling thread, so it may index
/// per-worker storage without locks.
typedef void fm_range_fn(uint32_t begin, uint32_t end, uint32_t worker, void *context);

/// Starts worker_count - 1 threads; the thread that calls fm_workers_run() is worker 0.
///
/// @param worker_count  1..FM_WORKERS_MAX (asserted)
/// @param out           receives the pool; left alone on failure
/// @return FM_OK or FM_ERR_NO_MEMORY
FM_CHECKED fm_status fm_workers_create(uint32_t worker_count, fm_workers **out);

/// Stops and joins the threads. NULL is allowed.
void fm_workers_destroy(fm_workers *workers);

/// How many threads share the work, the calling one included. 1 for NULL.
uint32_t fm_workers_count(const fm_workers *workers);

/// Runs fn over 0..item_count-1 and returns when all of it is done. Workers claim blocks of
/// block_size (>= 1) items one after the other, so one slow block cannot hold up the rest. One
/// block or fewer, or workers == NULL, runs on the calling thread alone.
void fm_workers_run(fm_workers *workers, uint32_t item_count, uint32_t block_size, fm_range_fn *fn,
                    void *context);

/// The same in another order: each worker begins with a part of its own, the same one whenever
/// item_count and block_size are the same, and then takes from the others' parts. For stages that
/// visit the same items: what a worker has written is still in its cache in the next stage.
void fm_workers_run_parts(fm_workers *workers, uint32_t item_count, uint32_t block_size,
                          fm_range_fn *fn, void *context);

// server/process/metrics.h: the numbers of the server and its worlds in the Prometheus text format.
//
// A scrape asks every world for its numbers, as the method `stats` does, and is complete when all
// have answered. Scrapes that come while one is under way, or within a second after its text was
// made, get the same text, so that no client can load the worlds by scraping.
//
// Labels are bounded: the world's name, a state, a reason, a stage; never an agent or a session.
//
// Threads: the event loop.

#pragma once

#include "server/sessions/hub.h"

typedef struct fm_metrics fm_metrics;

/// @param on_ready  called from fm_metrics_take() when the text that fm_metrics_request() asked
///                  for is complete
/// @return NULL when out of memory
fm_metrics *fm_metrics_create(fm_hub *hub, void (*on_ready)(void *context), void *context);

/// NULL is allowed. Jobs under way are dropped when they come back to the hub.
void fm_metrics_destroy(fm_metrics *metrics);

/// Asks for a text.
///
/// @return true when there is a fresh one already, false when on_ready() will be called
bool fm_metrics_request(fm_metrics *metrics);

/// A job of kind FM_JOB_STATS that belongs to a scrape came back. Destroys it.
void fm_metrics_take(fm_metrics *metrics, fm_job *job);

/// Does not wait any longer for worlds that have not answered: calls on_ready() with a text of the
/// others, which serves requests for a second, too.
void fm_metrics_make_do(fm_metrics *metrics);

/// The last text, good until the next call of any function here. NULL when out of memory.
const char *fm_metrics_text(const fm_metrics *metrics, size_t *size);

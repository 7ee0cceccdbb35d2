// server/process/http_pages.h: the pages of the HTTP port.
//
// Threads: the event loop.

#pragma once

#include "server/process/http_answer.h"
#include "server/process/metrics.h"
#include "server/wire/http_request.h"

typedef struct fm_http_pages fm_http_pages;

/// @param for_operators  these are the pages of `metrics_listen`: health and metrics, and nothing
/// else
/// @param on_metrics     called when the metrics that a request had to wait for are there
/// @return NULL when out of memory
fm_http_pages *fm_http_pages_create(fm_hub *hub, bool for_operators,
                                    void (*on_metrics)(void *context), void *context);

/// NULL is allowed.
void fm_http_pages_destroy(fm_http_pages *pages);

/// Reads the files of the web client, or reads them again.
void fm_http_pages_read_files(fm_http_pages *pages);

/// Answers a request.
///
/// @param is_local  the client is on this machine
/// @return false: it is for the metrics, which will be there later
bool fm_http_pages_answer(fm_http_pages *pages, const fm_http_request *request, bool is_local,
                          fm_http_answer *answer);

/// Some worlds do not answer, as where etcd or a disk does not: those who wait get metrics without
/// those worlds.
void fm_http_pages_make_do(fm_http_pages *pages);

/// Answers with the metrics that were made last.
void fm_http_pages_answer_metrics(const fm_http_pages *pages, fm_http_answer *answer);

/// A job of kind FM_JOB_STATS that belongs to a scrape came back. Destroys it.
void fm_http_pages_take_scrape(fm_http_pages *pages, fm_job *job);

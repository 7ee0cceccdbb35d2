// server/worlds/job.c: see job.h.

#include "server/worlds/job.h"

#include "server/worlds/queries.h"

#include <stdlib.h>

fm_job *fm_job_create(fm_job_kind kind, fm_host *host)
{
    fm_job *job = calloc(1, sizeof *job);
    if (job != NULL) {
        job->event.kind = FM_EVENT_JOB;
        job->kind = kind;
        job->host = host;
    }
    return job;
}

void fm_job_destroy(fm_job *job)
{
    if (job == NULL) {
        return;
    }
    switch (job->kind) {
    case FM_JOB_COMMAND:
        free(job->command.agents);
        free(job->command.cells);
        free(job->command.rects);
        free(job->command.spawned);
        free(job->command.names);
        break;
    case FM_JOB_QUERY:
        fm_job_query_fini(&job->query);
        break;
    case FM_JOB_STATS:
        if (job->stats.world != NULL) {
            free(job->stats.world->teams);
        }
        free(job->stats.world);
        break;
    case FM_JOB_INSPECT:
        free(job->inspect.path);
        free(job->inspect.search);
        break;
    case FM_JOB_EXPLAIN:
        free(job->explain.explanation);
        break;
    case FM_JOB_TOP:
        free(job->top.rows);
        break;
    case FM_JOB_SAVE:
        free(job->save.file.data);
        break;
    case FM_JOB_TRACE:
    case FM_JOB_UNTRACE:
    case FM_JOB_ADD:
    case FM_JOB_REMOVE:
    case FM_JOB_PAUSE:
    case FM_JOB_RESUME:
    case FM_JOB_STEP:
    case FM_JOB_SEEK:
    case FM_JOB_WATCH:
    case FM_JOB_UNWATCH:
        break;
    }
    free(job);
}

// server/worlds/shares.c: see shares.h. Turns are a virtual time (start-time fair queueing): a
// job's turn is the world's, or, where its team has used that up, a later one.

#include "server/worlds/shares.h"

#define TURN_UNITS     64u // work of a holder in one turn: a job, ...
#define AGENTS_A_UNIT  64u // ... so many agents that a command names, ...
#define REPORTS_A_UNIT 4u  // ... so many of whom a report tells
#define LOOK_UNITS     16u // a look into searches, or at all agents
#define TURN_OF_ENDING UINT64_MAX

// Teams have one half of the places, tokens the other: else a token could have a team's for good.
static uint32_t place_of(const fm_job *job)
{
    uint32_t half = FM_SHARES_MAX / 2;
    return (job->holder >> 63 != 0 ? half : 0) + (uint32_t)(job->holder % half);
}

static fm_job **last_of(const fm_job *job)
{
    uint32_t place = job->holder == 0 ? FM_SHARES_MAX : place_of(job);
    return &job->host->shares.last[place];
}

bool fm_shares_have_room(const fm_job *job, uint64_t places)
{
    const fm_host *host = job->host;
    uint64_t waiting = atomic_load(&host->jobs_waiting);
    return job->holder == 0 || waiting + atomic_load(&host->shares.waiting[place_of(job)]) < places;
}

void fm_shares_note_posted(const fm_job *job)
{
    if (job->holder != 0) {
        atomic_fetch_add(&job->host->shares.waiting[place_of(job)], 1);
    }
}

void fm_shares_note_done(const fm_job *job)
{
    if (job->holder != 0) {
        atomic_fetch_sub(&job->host->shares.waiting[place_of(job)], 1);
    }
}

// Whether a player sees a place is found by a look at all of its units.
static uint64_t work_of_command(const fm_command *command)
{
    bool looks = command->kind == FM_COMMAND_BUILD || command->kind == FM_COMMAND_DEMOLISH;
    return looks ? LOOK_UNITS : 1 + command->agent_count / AGENTS_A_UNIT;
}

static uint64_t work_of(const fm_job *job)
{
    switch (job->kind) {
    case FM_JOB_COMMAND:
        return work_of_command(&job->command.command);
    case FM_JOB_UNITS:
        return 1 + job->units.count / REPORTS_A_UNIT;
    case FM_JOB_STATS:
    case FM_JOB_INSPECT:
    case FM_JOB_EXPLAIN:
    case FM_JOB_TOP:
    case FM_JOB_JAMS:
        return LOOK_UNITS;
    case FM_JOB_QUERY:
        return 0; // questions have shares of their own, see queries.c
    case FM_JOB_ADD:
    case FM_JOB_REMOVE:
    case FM_JOB_PAUSE:
    case FM_JOB_RESUME:
    case FM_JOB_STEP:
    case FM_JOB_SEEK:
    case FM_JOB_TRACE:
    case FM_JOB_UNTRACE:
    case FM_JOB_WATCH:
    case FM_JOB_UNWATCH:
    case FM_JOB_SAVE:
        return 1;
    }
    FM_UNREACHABLE();
}

static uint64_t take_turn(const fm_job *job)
{
    fm_host_shares *shares = &job->host->shares;
    if (job->kind == FM_JOB_REMOVE) {
        return TURN_OF_ENDING; // what came before it is done before
    }
    if (job->holder == 0) {
        return shares->turn;
    }
    uint64_t *used = &shares->used[place_of(job)], now = shares->turn * TURN_UNITS;
    *used = *used < now ? now : *used;
    uint64_t turn = *used / TURN_UNITS;
    *used += work_of(job);
    return turn;
}

// Behind all whose turn is not later. Mostly that is the end. Else it is looked for from the last
// job in the backlog with the same place on: its turn is not later, and in between lie only jobs of
// as many turns as one holder has taken meanwhile, however long the backlog is.
void fm_shares_queue(fm_job *job)
{
    fm_events *backlog = &job->host->backlog;
    fm_job **last = last_of(job);
    job->turn = take_turn(job);
    if (backlog->first == NULL || ((const fm_job *)backlog->last)->turn <= job->turn) {
        fm_events_append(backlog, &job->event);
    } else {
        fm_event **link = *last == NULL ? &backlog->first : &(*last)->event.next;
        while (((const fm_job *)*link)->turn <= job->turn) {
            link = &(*link)->next;
        }
        job->event.next = *link;
        *link = &job->event;
    }
    *last = job->turn == TURN_OF_ENDING ? *last : job;
}

fm_job *fm_shares_take(fm_host *host)
{
    fm_job *job = (fm_job *)fm_events_pop(&host->backlog);
    fm_job **last = last_of(job);
    *last = *last == job ? NULL : *last;
    return job;
}

void fm_shares_begin(const fm_job *job)
{
    fm_host_shares *shares = &job->host->shares;
    if (job->turn != TURN_OF_ENDING && job->turn > shares->turn) {
        shares->turn = job->turn;
    }
}

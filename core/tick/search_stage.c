// core/tick/search_stage.c: the search stage: planners and surveys search in rounds, within grants
// that share the tick's expansions, until the budget or the deadline ends it. Teams share first
// (account.h), then the planners of each, among which a survey counts as one. tick.h says why a
// replay can repeat it.
//
// The stage visits only planners that are due (core/world/due.h): a tick's cost depends on what
// happened in it, not on how many planners exist.

#include "core/tick/search_stage.h"

#include "core/tick/notice.h"
#include "core/world/due.h"
#include "core/world/planner_table.h"
#include "core/world/view_surveys.h"
#include "core/world/world_state.h"

#define MOVES_SHARE  4u    // of a team that has less than that, this part is for moves
#define TURN_GROWTH  2u    // bits: who has had a turn in vain gets four times as much the next time
#define TURNS_MAX    8u    // factor by which grants grow
#define TURNS_SPENT  3u    // after which a team's turn is over, even if its search is not
#define TURNS_STRIDE 7919u // how far the orders of turns rotate from tick to tick

// Items that a worker takes at a time.
#define BLOCK_SIZE(count) ((count) > 1024 ? 16u : (count) > 64 ? 4u : 1u)

// Makes room for the cells of the agents that each planner answers for which the stage turns to. It
// is filled where each is notified, on all workers: agents of a planner lie anywhere, and reading
// them one after the other was a quarter of the stage in skirmish-100k.
static bool reserve_starts(fm_world *world)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < world->lists.notified_count; i++) {
        struct fm_planner *planner = &world->planners.slots[world->lists.notified[i]];
        planner->first_start = count;
        planner->start_count = planner->users;
        count += planner->users;
    }
    return FM_RESERVE(world, world->lists.starts, world->lists.starts_capacity, count);
}

// First the slots, so that the agents come into the cache all at once.
static void list_starts(const fm_world *world, const struct fm_planner *planner)
{
    fm_cell *starts = world->lists.starts + planner->first_start;
    uint32_t count = 0;
    for (uint32_t slot = planner->first_agent; slot != FM_SLOT_NONE;
         slot = world->agents.mates[slot].after) {
        __builtin_prefetch(&world->agents.slots[slot]);
        starts[count++] = slot;
    }
    FM_ASSERT(count == planner->start_count);
    for (uint32_t i = 0; i < count; i++) {
        starts[i] = world->agents.slots[starts[i]].cell;
    }
}

// Lists the notified planners by team, in their order. Counts them in the accounts, and writes the
// end of each team's part to `ends`.
static void list_by_team(fm_world *world, uint32_t *slots, uint32_t *ends)
{
    for (uint32_t i = 0; i < world->lists.notified_count; i++) {
        const struct fm_planner *planner = &world->planners.slots[world->lists.notified[i]];
        fm_team_of(world, planner->team)->account.searching += 1;
        fm_team_of(world, planner->team)->account.served += planner->start_count;
    }
    uint32_t begin = 0;
    for (uint32_t i = 0; i < world->teams.count; i++) {
        ends[i] = begin;
        begin += world->teams.list[i].account.searching;
    }
    for (uint32_t i = 0; i < world->lists.notified_count; i++) {
        uint32_t slot = world->lists.notified[i];
        slots[ends[world->planners.slots[slot].team - 1]++] = slot;
    }
}

// The teams that have planners in the list, in the order of their turns. Returns how many.
static uint32_t list_teams(const fm_world *world, const uint32_t *slots, const uint32_t *ends,
                           uint32_t *teams)
{
    uint32_t team_count = 0;
    if (world->lists.teams_in_turns) {
        // Those first that have waited longest, as those that are notified are listed.
        for (uint32_t i = 0; i < world->lists.notified_count; i++) {
            uint32_t slot = world->lists.notified[i], team = world->planners.slots[slot].team - 1;
            if (slots[ends[team] - world->teams.list[team].account.searching] == slot) {
                teams[team_count++] = team;
            }
        }
        return team_count;
    }
    for (uint32_t i = 0; i < world->teams.count; i++) {
        uint32_t team = (uint32_t)((i + world->tick * TURNS_STRIDE) % world->teams.count);
        if (world->teams.list[team].account.searching > 0) {
            teams[team_count++] = team;
        }
    }
    return team_count;
}

// One planner of each team in turn, as long as it has any: when the deadline ends a round, all
// teams have had as many turns, whatever they ask for.
static void deal_turns(fm_world *world, const uint32_t *slots, const uint32_t *ends,
                       uint32_t *teams)
{
    uint32_t team_count = list_teams(world, slots, ends, teams);
    world->lists.searching_count = 0;
    for (uint32_t turn = 0; team_count > 0; turn++) {
        uint32_t kept = 0;
        for (uint32_t i = 0; i < team_count; i++) {
            uint32_t team = teams[i], count = world->teams.list[team].account.searching;
            world->lists.searching[world->lists.searching_count++] =
                slots[ends[team] - count + turn];
            if (turn + 1 < count) {
                teams[kept++] = team;
            }
        }
        team_count = kept;
    }
}

static bool list_searchers(fm_world *world)
{
    world->lists.searching_count = 0;
    for (uint32_t i = 0; i < world->teams.count; i++) {
        world->teams.list[i].account.searching = 0;
        world->teams.list[i].account.served = 0;
    }
    uint32_t list_count = world->lists.notified_count + 2 * world->teams.count;
    if (!FM_RESERVE(world, world->lists.searching, world->lists.searching_capacity,
                    world->lists.notified_count) ||
        !FM_RESERVE(world, world->lists.by_team, world->lists.by_team_capacity, list_count)) {
        return false;
    }
    if (world->lists.notified_count > 0) {
        uint32_t *ends = world->lists.by_team + world->lists.notified_count;
        list_by_team(world, world->lists.by_team, ends);
        deal_turns(world, world->lists.by_team, ends, ends + world->teams.count);
    }
    return true;
}

// Lists the surveys that have something to measure.
static bool list_surveys(fm_world *world)
{
    world->surveys.running_count = 0;
    if (!FM_RESERVE(world, world->surveys.running, world->surveys.running_capacity,
                    world->surveys.count)) {
        return false;
    }
    for (uint32_t i = 0; i < world->surveys.count; i++) {
        if (fm_heuristic_survey_is_busy(world->surveys.list[i].survey)) {
            world->surveys.running[world->surveys.running_count++] = i;
            fm_team_of(world, world->surveys.list[i].team)->account.searching += 1;
            fm_team_of(world, world->surveys.list[i].team)->account.served += 1;
        }
    }
    return true;
}

// ---- accounts -----------------------------------------------------------------------------------

static void open_accounts(struct fm_tick *t)
{
    fm_world *world = t->world;
    uint64_t weight_sum = 0;
    for (uint32_t i = 0; i < world->teams.count; i++) {
        const fm_account *account = &world->teams.list[i].account;
        weight_sum += account->agents > 0 ? account->weight : 0;
    }
    t->budget = t->budget < FM_BUDGET_MAX ? t->budget : FM_BUDGET_MAX;
    uint64_t budget = t->budget;
    for (uint32_t i = 0; i < world->teams.count; i++) {
        struct fm_team *team = &world->teams.list[i];
        fm_account_open(&team->account, budget, weight_sum);
        // Work on labels was done before the search and is taken from the team's account. Its time
        // belongs to the assign stage: if the tick's budget paid for it as well, nothing would be
        // left in ticks in which thousands of teams ask.
        fm_account_spend(&team->account, team->labels.units + team->seekers.cells_used);
        t->report->label_units += team->labels.units;
    }
}

// In round 0 no planner gets more than most repairs need. When that is more than there is, the
// planners of a team that has few of them get more: together as much as those of any other team.
// Only then, because the moves of real-time planners depend on their grants, and a player is not to
// learn from its own how many planners the others have.
static uint64_t first_grant(const fm_account *account, uint64_t budget, uint32_t planner_count,
                            uint32_t team_count)
{
    if (budget / FM_FIRST_GRANT >= planner_count) {
        return FM_FIRST_GRANT;
    }
    uint64_t mean = (uint64_t)FM_FIRST_GRANT * planner_count / team_count / account->searching;
    return mean < FM_FIRST_GRANT ? FM_FIRST_GRANT : mean;
}

// Equal grants, if these are enough to begin with. If not, in round 0 planners that can use a
// little get a little, for a move; from then on some get enough for a whole search, one after the
// other: a search costs least in one piece, and some restart when their agents move in between.
static void set_grant(fm_account *account, uint32_t round, uint64_t allowance, uint64_t first)
{
    uint64_t grant = allowance / (round == 0 ? account->searching : account->served);
    account->moves_only = round == 0 && grant < first;
    account->in_turns = round > 0 && grant < FM_FIRST_GRANT;
    account->credit = allowance;
    if (account->moves_only) {
        grant /= MOVES_SHARE;
    } else if (account->in_turns || round == 0) {
        grant = first;
    }
    account->grant = grant < 1 ? 1 : grant > UINT32_MAX ? UINT32_MAX : (uint32_t)grant;
}

// Whether a team's planners get their grants from the pool. Where the teams' shares are too small
// for even one search each, teams pool them, and those that have waited longest search first:
// divided, the shares would be of no use.
static bool is_pooled(const fm_world *world, const fm_account *account)
{
    return world->lists.teams_in_turns && account->in_turns;
}

// Sets every team's grant for the round.
static void open_round(struct fm_tick *t)
{
    fm_world *world = t->world;
    t->pool = 0;
    fm_claims claims = {.budget = t->budget};
    uint32_t team_count = 0;
    for (uint32_t i = 0; i < world->teams.count; i++) {
        fm_account_claim(&world->teams.list[i].account, &claims);
        team_count += world->teams.list[i].account.searching > 0;
    }
    for (uint32_t i = 0; i < world->teams.count; i++) {
        fm_account *account = &world->teams.list[i].account;
        if (account->searching == 0) {
            continue;
        }
        uint64_t first = first_grant(account, t->budget, world->lists.searching_count, team_count);
        set_grant(account, t->round, fm_account_allowance(account, &claims), first);
        t->pool += is_pooled(world, account) ? account->credit : 0;
    }
}

static uint32_t smaller(uint64_t a, uint64_t b)
{
    return (uint32_t)(a < b ? a : b);
}

// Whether a planner makes use of a few expansions. Others wait for their turn.
static bool lives_on_moves(const fm_planner_ops *ops)
{
    return ops->real_time && !ops->waits_for_grant;
}

// What a planner may use in the round. A search for many agents may use as much as those of so many
// agents that search alone; the first round, which is for small repairs, leaves it at one.
static uint32_t grant_of(const struct fm_tick *t, const struct fm_planner *planner,
                         const fm_account *account)
{
    uint64_t grant = account->grant;
    if (t->round > 0) {
        grant *= planner->start_count;
    }
    if (account->in_turns) {
        uint64_t most = is_pooled(t->world, account) ? t->pool : account->credit;
        grant = smaller(grant << TURN_GROWTH * planner->turns, most);
    }
    bool is_left_out = account->moves_only && !lives_on_moves(planner->spec.ops);
    return is_left_out ? 0 : smaller(grant, UINT32_MAX);
}

// Sets the round's grants; where there is not enough for all, for the first in the list. Returns
// how many planners got one.
static uint32_t deal_grants(struct fm_tick *t)
{
    fm_world *world = t->world;
    uint32_t teams_left = t->pool > 0, end = 0; // the pool counts for one
    for (uint32_t i = 0; i < world->teams.count; i++) {
        const fm_account *account = &world->teams.list[i].account;
        teams_left += account->searching > 0 && !is_pooled(world, account);
    }
    for (; end < world->lists.searching_count && teams_left > 0; end++) {
        struct fm_planner *planner = &world->planners.slots[world->lists.searching[end]];
        fm_account *account = &fm_team_of(world, planner->team)->account;
        planner->grant = grant_of(t, planner, account);
        if (account->in_turns && planner->grant > 0) {
            planner->turns += planner->turns < TURNS_MAX;
            uint64_t *credit = is_pooled(world, account) ? &t->pool : &account->credit;
            *credit -= planner->grant;
            teams_left -= *credit == 0;
        }
    }
    return end;
}

static void close_accounts(fm_world *world)
{
    for (uint32_t i = 0; i < world->teams.count; i++) {
        fm_account_close(&world->teams.list[i].account, world->rules.saved_ticks);
    }
}

// ---- one planner --------------------------------------------------------------------------------

// One that walks finds walls on its path by itself.
// @return whether there were any
static bool tell_changes(struct fm_planner *planner, const fm_change_log *log, bool walks,
                         fm_work *work)
{
    if (walks && !fm_change_log_has_cheaper(log)) {
        planner->cursor = log->version;
        return false;
    }
    if (walks && planner->cursor < log->trimmed) {
        planner->cursor = log->trimmed;
    }
    uint32_t count;
    bool complete;
    const fm_change *changes = fm_change_log_since(log, planner->cursor, &count, &complete);
    if (!complete) {
        planner->spec.ops->forget(planner->self, work->slab);
    } else if (count > 0) {
        planner->spec.ops->knowledge_changed(planner->self, changes, count, work);
    }
    bool changed = !complete || count > 0;
    if (changed) {
        planner->change_count = complete ? count : 0;
        planner->change_cell = complete ? changes[0].cell : FM_CELL_NONE;
    }
    planner->cursor = log->version;
    return changed;
}

// In a replay the cut was written into the planner before the round; see apply_recorded_cuts().
static bool is_turn_skipped(const struct fm_tick *t, bool cut, uint32_t recorded_expansions)
{
    if (t->recorded != NULL) {
        return cut && recorded_expansions == 0;
    }
    return t->clock != NULL && t->clock->deadline.passed != NULL &&
           t->clock->deadline.passed(t->clock->deadline.context);
}

// `cut` and `cut_at` are what was written into the searcher before a recorded round.
static fm_work lend(const struct fm_tick *t, uint32_t worker, uint32_t grant, bool cut,
                    uint32_t cut_at)
{
    fm_work work = {.slab = &t->world->workers.slabs[worker],
                    .scratch = &t->world->workers.scratches[worker],
                    .expansions_max = grant};
    if (t->recorded != NULL) {
        work.cut_at = cut ? cut_at : 0;
    } else if (t->clock != NULL) {
        work.deadline = t->clock->deadline;
    }
    return work;
}

static void tell_planner(struct fm_tick *t, uint32_t slot, uint32_t worker)
{
    fm_world *world = t->world;
    struct fm_planner *planner = &world->planners.slots[slot];
    const fm_planner_ops *ops = planner->spec.ops;
    fm_work work = lend(t, worker, 0, false, 0);
    bool had_answer = planner->state != FM_PLAN_RUNNING;
    const fm_knowledge *knowledge = fm_team_of(world, planner->team)->knowledge;
    const fm_change_log *log = fm_knowledge_log(knowledge, planner->class_index);
    bool edited = log->edited > planner->cursor;
    bool changed = tell_changes(planner, log, fm_planner_walks(world, slot), &work);
    planner->disturbed = planner->disturbed || (changed && had_answer);
    planner->edited = planner->disturbed && (planner->edited || edited);
    list_starts(world, planner);
    ops->set_starts(planner->self, &world->lists.starts[planner->first_start],
                    planner->start_count);
    planner->round_expansions = work.expansions;
    planner->expansions += work.expansions;
    planner->cut = false;
    planner->turns = had_answer ? 0 : planner->turns;
    planner->wants_search = ops->is_done == NULL || !ops->is_done(planner->self);
    planner->asked_tick = had_answer && planner->wants_search ? world->tick : planner->asked_tick;
    if (!planner->wants_search) {
        planner->state =
            (uint8_t)ops->state_at(planner->self, world->lists.starts[planner->first_start]);
        planner->disturbed = false;
        planner->has_answered |= planner->state != FM_PLAN_RUNNING;
    }
}

static void search_planner(struct fm_tick *t, uint32_t slot, uint32_t worker)
{
    struct fm_planner *planner = &t->world->planners.slots[slot];
    planner->round_expansions = 0;
    if (is_turn_skipped(t, planner->cut, planner->cut_at)) {
        planner->cut = true;
        planner->cut_at = 0;
        planner->wants_search = true;
        planner->state = FM_PLAN_RUNNING;
        return;
    }
    fm_work work = lend(t, worker, planner->grant, planner->cut, planner->cut_at);
    work.in_turn = fm_team_of(t->world, planner->team)->account.in_turns &&
                   planner->grant >= FM_FIRST_GRANT; // less does not finish a search
    planner->state = (uint8_t)planner->spec.ops->advance(planner->self, &work);
    planner->round_expansions = work.expansions;
    planner->expansions += work.expansions;
    if (planner->disturbed && work.expansions > 0) {
        planner->replans += 1;
        planner->cause = planner->edited ? FM_REPLAN_EDIT : FM_REPLAN_SENSED;
    }
    planner->disturbed = false;
    planner->has_answered |= planner->state != FM_PLAN_RUNNING;
    planner->cut = work.cut;
    planner->cut_at = work.cut_at;
    // A real-time planner that has a move may still have a search under way.
    bool could_go_on = planner->state == FM_PLAN_PARTIAL && work.expansions >= work.expansions_max;
    planner->wants_search = planner->state == FM_PLAN_RUNNING || could_go_on;
}

static void measure_for_survey(struct fm_tick *t, uint32_t number, uint32_t worker)
{
    struct fm_world_survey *entry = &t->world->surveys.list[number];
    uint32_t grant = fm_team_of(t->world, entry->team)->account.grant;
    fm_work work = lend(t, worker, grant, entry->cut, entry->round_expansions);
    if (is_turn_skipped(t, entry->cut, entry->round_expansions)) {
        entry->cut = true;
        entry->round_expansions = 0;
        return;
    }
    fm_heuristic_survey_advance(entry->survey, &work);
    entry->round_expansions = work.expansions;
    entry->cut = work.cut;
}

static void tell_items(uint32_t begin, uint32_t end, uint32_t worker, void *context)
{
    struct fm_tick *t = context;
    for (uint32_t i = begin; i < end; i++) {
        tell_planner(t, t->world->lists.searching[i], worker);
    }
}

// Items are the planners that may have a turn, then the surveys.
static void search_items(uint32_t begin, uint32_t end, uint32_t worker, void *context)
{
    struct fm_tick *t = context;
    for (uint32_t i = begin; i < end; i++) {
        if (i >= t->turns) {
            measure_for_survey(t, t->world->surveys.running[i - t->turns], worker);
        } else if (t->world->planners.slots[t->world->lists.searching[i]].grant > 0) {
            search_planner(t, t->world->lists.searching[i], worker);
        }
    }
}

static void apply_recorded_cuts(struct fm_tick *t)
{
    const fm_tick_record *record = t->recorded;
    for (uint32_t i = 0; i < t->turns; i++) {
        t->world->planners.slots[t->world->lists.searching[i]].cut = false;
    }
    for (uint32_t i = 0; i < t->world->surveys.running_count; i++) {
        t->world->surveys.list[t->world->surveys.running[i]].cut = false;
    }
    while (record != NULL && t->recorded_next < record->cut_count &&
           record->cuts[t->recorded_next].round == t->round) {
        const fm_cut *cut = &record->cuts[t->recorded_next++];
        if (cut->planner < t->world->planners.slot_count) {
            t->world->planners.slots[cut->planner].cut = true;
            t->world->planners.slots[cut->planner].cut_at = cut->expansions;
        } else if (cut->planner >= FM_CUT_SURVEY &&
                   cut->planner - FM_CUT_SURVEY < t->world->surveys.count) {
            t->world->surveys.list[cut->planner - FM_CUT_SURVEY].cut = true;
            t->world->surveys.list[cut->planner - FM_CUT_SURVEY].round_expansions = cut->expansions;
        }
    }
}

static void note_cut(struct fm_tick *t, uint32_t slot, uint32_t expansions)
{
    fm_world *world = t->world;
    t->deadline_met = true;
    // Room for a cut of every searcher in this round was reserved before it.
    FM_ASSERT(world->lists.cut_count < world->lists.cut_capacity);
    world->lists.cuts[world->lists.cut_count++] =
        (fm_cut){.planner = slot, .round = t->round, .expansions = expansions};
}

// What surveys used in the round; keeps those that want to continue.
static uint64_t close_surveys(struct fm_tick *t)
{
    fm_world *world = t->world;
    uint64_t used = 0;
    uint32_t kept = 0;
    for (uint32_t i = 0; i < world->surveys.running_count; i++) {
        uint32_t number = world->surveys.running[i];
        const struct fm_world_survey *entry = &world->surveys.list[number];
        fm_account *account = &fm_team_of(world, entry->team)->account;
        fm_account_spend(account, entry->round_expansions);
        used += entry->round_expansions;
        world->counts.expansions_by_kind[FM_SEARCH_SURVEY] += entry->round_expansions;
        if (entry->cut) {
            note_cut(t, FM_CUT_SURVEY + number, entry->round_expansions);
        }
        if (fm_heuristic_survey_is_busy(entry->survey)) {
            world->surveys.running[kept++] = number;
        } else {
            account->searching -= 1;
            account->served -= 1;
        }
    }
    world->surveys.running_count = kept;
    return used;
}

// Adds up what planners used that were notified, or had a turn, and notes who was cut. Returns
// whether it still wants to search.
static bool close_planner(struct fm_tick *t, uint32_t slot, uint64_t *used)
{
    fm_world *world = t->world;
    struct fm_planner *planner = &world->planners.slots[slot];
    fm_account *account = &fm_team_of(world, planner->team)->account;
    fm_account_spend(account, planner->round_expansions);
    *used += planner->round_expansions;
    world->counts.expansions_by_kind[planner->kind] += planner->round_expansions;
    if (planner->cut) {
        note_cut(t, slot, planner->cut_at);
    }
    if (!planner->wants_search) {
        account->searching -= 1;
        account->served -= planner->start_count;
    }
    if (world->lists.teams_in_turns && (!planner->wants_search || planner->turns >= TURNS_SPENT)) {
        account->turn_tick = world->tick;
    }
    return planner->wants_search;
}

static void spend(struct fm_tick *t, uint64_t used)
{
    t->report->expansions += used;
    t->budget = used < t->budget ? t->budget - used : 0;
}

// Keeps those that want to continue, in their order.
static void close_round(struct fm_tick *t)
{
    fm_world *world = t->world;
    uint64_t used = 0;
    uint32_t kept = 0;
    for (uint32_t i = 0; i < t->turns; i++) {
        uint32_t slot = world->lists.searching[i];
        if (world->planners.slots[slot].grant == 0 || close_planner(t, slot, &used)) {
            world->lists.searching[kept++] = slot;
        }
    }
    memmove(world->lists.searching + kept, world->lists.searching + t->turns,
            (world->lists.searching_count - t->turns) * sizeof *world->lists.searching);
    world->lists.searching_count -= t->turns - kept;
    spend(t, used + close_surveys(t));
}

// After round 0 those come first that have no move yet.
static void sort_by_need(fm_world *world)
{
    uint32_t begin = 0, rest = 0;
    for (uint32_t i = 0; i < world->lists.searching_count; i++) {
        uint32_t slot = world->lists.searching[i];
        if (world->planners.slots[slot].state == FM_PLAN_RUNNING) {
            world->lists.searching[begin++] = slot;
        } else {
            world->lists.by_team[rest++] = slot;
        }
    }
    memcpy(world->lists.searching + begin, world->lists.by_team,
           rest * sizeof *world->lists.searching);
}

// Notifies planners of what changed and where their agents stand; those that have their answers all
// the same are done for this tick.
static void tell_planners(struct fm_tick *t)
{
    fm_world *world = t->world;
    uint64_t used = 0;
    uint32_t kept = 0;
    fm_workers_run(t->workers, world->lists.searching_count,
                   BLOCK_SIZE(world->lists.searching_count), tell_items, t);
    for (uint32_t i = 0; i < world->lists.searching_count; i++) {
        uint32_t slot = world->lists.searching[i];
        if (close_planner(t, slot, &used)) {
            world->lists.searching[kept++] = slot;
        }
    }
    world->lists.searching_count = kept;
    spend(t, used);
}

// What the tick cost a search, for inspection. Returns what it searched because of changes.
static uint64_t note_cost(fm_world *world, struct fm_planner *planner)
{
    uint64_t used = planner->expansions - planner->noted_expansions, replanned = 0;
    planner->recent = fm_planner_recent(planner, world->tick + 1) + used * 256 / FM_RECENT_TICKS;
    planner->recent_tick = world->tick + 1;
    if (planner->replans != planner->noted_replans) {
        fm_history_entry entry = {.tick = world->tick,
                                  .subject = planner->serial,
                                  .expansions = used,
                                  .count = planner->change_count,
                                  .cell = planner->change_cell,
                                  .kind = FM_HISTORY_REPLAN};
        fm_history_add(&world->history, &world->memory, &entry);
        replanned = used;
        world->counts.replans[planner->cause] += planner->replans - planner->noted_replans;
    }
    planner->noted_expansions = planner->expansions;
    planner->noted_replans = planner->replans;
    return replanned;
}

// What the tick's edits cost all searches.
static void note_edits(fm_world *world, uint64_t replanned)
{
    fm_history_entry *entry;
    for (uint64_t age = 0; replanned > 0 && (entry = fm_history_at(&world->history, age)) != NULL &&
                           entry->tick == world->tick;
         age++) {
        if (entry->kind == FM_HISTORY_EDIT) {
            entry->expansions = replanned;
        }
    }
}

// Planners that are not finished are due again; the others when something happens to them.
static void close_stage(fm_world *world)
{
    uint64_t replanned = 0;
    for (uint32_t i = 0; i < world->lists.notified_count; i++) {
        uint32_t slot = world->lists.notified[i];
        struct fm_planner *planner = &world->planners.slots[slot];
        const fm_planner_ops *ops = planner->spec.ops;
        bool found = planner->state == FM_PLAN_FOUND && !planner->wants_search;
        fm_planner_set_walking(world, slot,
                               found && ops->is_walking != NULL && ops->is_walking(planner->self));
        if (!found) {
            fm_planner_wake(world, slot);
        }
        replanned += note_cost(world, planner);
    }
    note_edits(world, replanned);
}

// Lists all that the stage visits. When out of memory they stay due.
static bool list(struct fm_tick *t)
{
    fm_world *world = t->world;
    if (!fm_due_take(world)) {
        return false;
    }
    uint32_t due_count = world->lists.notified_count;
    if (!fm_due_admit(world, t->budget)) {
        for (uint32_t i = 0; i < due_count; i++) {
            fm_planner_wake(world, world->lists.notified[i]);
        }
        return false;
    }
    t->put_off = due_count - world->lists.notified_count;
    if (reserve_starts(world) && list_searchers(world) && list_surveys(world)) {
        return true;
    }
    for (uint32_t i = 0; i < world->lists.notified_count; i++) {
        fm_planner_wake(world, world->lists.notified[i]);
    }
    return false;
}

void fm_stage_search(struct fm_tick *t)
{
    fm_world *world = t->world;
    world->lists.cut_count = 0;
    open_accounts(t);
    fm_view_surveys_follow(world);
    fm_search_notice(t);
    if (!list(t)) {
        return; // out of memory: no searches in this tick
    }
    t->report->planners_notified = world->lists.notified_count;
    tell_planners(t);
    uint64_t rounds_begin = fm_tick_now(t);
    t->report->notify_expansions = t->report->expansions;
    t->report->planners_searched = world->lists.searching_count;
    for (t->round = 0; t->round < FM_SEARCH_ROUNDS_MAX; t->round++) {
        if (world->lists.searching_count + world->surveys.running_count == 0 || t->budget == 0 ||
            t->deadline_met) {
            break;
        }
        open_round(t);
        t->turns = deal_grants(t);
        uint32_t count = t->turns + world->surveys.running_count;
        if (!FM_RESERVE(world, world->lists.cuts, world->lists.cut_capacity,
                        world->lists.cut_count + count)) {
            break;
        }
        apply_recorded_cuts(t);
        fm_workers_run(t->workers, count, BLOCK_SIZE(count), search_items, t);
        close_round(t);
        if (t->round == 0) {
            sort_by_need(world);
        }
        t->report->record.rounds = t->round + 1;
    }
    t->report->rounds_ns = fm_tick_now(t) - rounds_begin;
    fm_due_learn_cost(world, t->report->planners_searched - world->lists.searching_count,
                      t->report->expansions - t->report->notify_expansions);
    t->report->planners_unfinished = world->lists.searching_count + t->put_off;
    close_accounts(world);
    close_stage(world);
    for (uint32_t i = 0; i < world->teams.count; i++) {
        fm_knowledge_trim_logs(world->teams.list[i].knowledge);
    }
}

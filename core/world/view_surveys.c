// core/world/view_surveys.c: the surveys of a world: one for each view on which some planner goes
// by tables.
//
// A view is what one team knows, as one movement class sees it. Surveys are begun in the order in
// which agents ask for them, which is the order of slots, and stay until the world ends. In the
// search stage each is one more searcher (search_stage.c).

#include "core/world/view_surveys.h"

#include "core/world/world_state.h"

// Classes that move alike share a view, and the first of them stands for all.
static uint32_t first_class_of(const fm_knowledge *knowledge, uint32_t class_index)
{
    const fm_view *view = fm_knowledge_view(knowledge, class_index);
    for (uint32_t i = 0; i < class_index; i++) {
        if (fm_knowledge_view(knowledge, i) == view) {
            return i;
        }
    }
    return class_index;
}

static struct fm_world_survey *find(fm_world *world, uint32_t team, uint32_t class_index)
{
    for (uint32_t i = 0; i < world->surveys.count; i++) {
        if (world->surveys.list[i].team == team &&
            world->surveys.list[i].class_index == class_index) {
            return &world->surveys.list[i];
        }
    }
    return NULL;
}

static struct fm_world_survey *begin(fm_world *world, uint32_t team, uint32_t class_index)
{
    fm_knowledge *knowledge = fm_team_of(world, team)->knowledge;
    fm_heuristic_survey *survey;
    if (!FM_RESERVE(world, world->surveys.list, world->surveys.capacity,
                    world->surveys.count + 1) ||
        fm_heuristic_survey_create(fm_knowledge_view(knowledge, class_index),
                                   world->rules.landmarks, world->surveys.count + 1, &world->memory,
                                   &survey) != FM_OK) {
        return NULL;
    }
    struct fm_world_survey *entry = &world->surveys.list[world->surveys.count++];
    *entry = (struct fm_world_survey){.survey = survey,
                                      .team = team,
                                      .class_index = class_index,
                                      .cursor = fm_knowledge_log(knowledge, class_index)->version};
    fm_knowledge_hang_tables(knowledge, class_index, &survey->tables);
    return entry;
}

void fm_view_surveys_want(fm_world *world, const struct fm_agent *agent, fm_cell goal)
{
    fm_heuristic_kind kind = agent->spec.options.heuristic;
    if (kind != FM_HEURISTIC_LANDMARKS && kind != FM_HEURISTIC_CLUSTER) {
        return;
    }
    const fm_knowledge *knowledge = fm_team_of(world, agent->team)->knowledge;
    uint32_t class_index = first_class_of(knowledge, agent->class_index);
    struct fm_world_survey *entry = find(world, agent->team, class_index);
    if (entry == NULL) {
        entry = begin(world, agent->team, class_index);
    }
    if (entry != NULL) {
        fm_heuristic_survey_want(entry->survey, kind, agent->cell, goal);
    }
}

void fm_view_surveys_follow(fm_world *world)
{
    for (uint32_t i = 0; i < world->surveys.count; i++) {
        struct fm_world_survey *entry = &world->surveys.list[i];
        const fm_knowledge *knowledge = fm_team_of(world, entry->team)->knowledge;
        const fm_change_log *log = fm_knowledge_log(knowledge, entry->class_index);
        uint32_t count;
        bool complete;
        const fm_change *changes = fm_change_log_since(log, entry->cursor, &count, &complete);
        fm_heuristic_survey_follow(entry->survey, changes, count, complete);
        entry->cursor = log->version;
    }
}

void fm_view_surveys_forget(fm_world *world, uint32_t team)
{
    for (uint32_t i = 0; i < world->surveys.count; i++) {
        if (world->surveys.list[i].team == team) {
            fm_heuristic_survey_forget(world->surveys.list[i].survey);
        }
    }
}

void fm_view_surveys_settle(fm_world *world)
{
    for (uint32_t i = 0; i < world->surveys.count; i++) {
        struct fm_world_survey *entry = &world->surveys.list[i];
        fm_knowledge *knowledge = fm_team_of(world, entry->team)->knowledge;
        fm_knowledge_hang_tables(knowledge, entry->class_index, NULL);
        fm_heuristic_survey_destroy(entry->survey);
    }
    world->surveys.count = 0;
}

void fm_view_surveys_destroy(fm_world *world)
{
    for (uint32_t i = 0; i < world->surveys.count; i++) {
        fm_heuristic_survey_destroy(world->surveys.list[i].survey);
    }
    fm_memory_release(&world->memory, world->surveys.list,
                      world->surveys.capacity * sizeof *world->surveys.list);
    fm_memory_release(&world->memory, world->surveys.running,
                      world->surveys.running_capacity * sizeof *world->surveys.running);
}

size_t fm_view_surveys_bytes(const fm_world *world)
{
    size_t bytes = 0;
    for (uint32_t i = 0; i < world->surveys.count; i++) {
        bytes += fm_heuristic_survey_bytes(world->surveys.list[i].survey);
    }
    return bytes;
}

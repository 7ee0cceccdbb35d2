// core/world/view_surveys.c: the surveys of a world: one for each view on which some planner uses
// tables.
//
// A view is what one team knows, as one movement class sees it. Surveys are begun in the order in
// which agents ask for them, which is the order of slots, and stay until the world ends. In the
// search stage each is one more searcher (search_stage.c).

#include "core/world/view_surveys.h"

#include "core/world/agent.h"
#include "core/world/team.h"
#include "core/world/world_parts.h"

// Classes that move alike share a view, and its survey.
static struct fm_world_survey *find(fm_world *world, uint32_t team, uint32_t class_index)
{
    const struct fm_world_surveys *surveys = fm_world_surveys(world);
    const fm_knowledge *knowledge = fm_team_of(world, team)->knowledge;
    const fm_view *view = fm_knowledge_view(knowledge, class_index);
    for (uint32_t i = 0; i < surveys->count; i++) {
        if (surveys->list[i].team == team &&
            fm_knowledge_view(knowledge, surveys->list[i].class_index) == view) {
            return &surveys->list[i];
        }
    }
    return NULL;
}

static struct fm_world_survey *begin(fm_world *world, uint32_t team, uint32_t class_index)
{
    struct fm_world_surveys *surveys = fm_world_edit_surveys(world);
    fm_knowledge *knowledge = fm_team_of(world, team)->knowledge;
    fm_heuristic_survey *survey;
    if (!FM_RESERVE(world, surveys->list, surveys->capacity, surveys->count + 1) ||
        fm_heuristic_survey_create(fm_knowledge_view(knowledge, class_index),
                                   fm_world_rules_get(world)->landmarks, surveys->count + 1,
                                   fm_world_memory(world), &survey) != FM_OK) {
        return NULL;
    }
    struct fm_world_survey *entry = &surveys->list[surveys->count++];
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
    struct fm_world_survey *entry = find(world, agent->team, agent->class_index);
    if (entry == NULL) {
        entry = begin(world, agent->team, agent->class_index);
    }
    if (entry != NULL) {
        fm_heuristic_survey_want(entry->survey, kind, agent->cell, goal);
    }
}

void fm_view_surveys_follow(fm_world *world)
{
    const struct fm_world_surveys *surveys = fm_world_surveys(world);
    for (uint32_t i = 0; i < surveys->count; i++) {
        struct fm_world_survey *entry = &surveys->list[i];
        const fm_knowledge *knowledge = fm_team_of(world, entry->team)->knowledge;
        const fm_change_log *log = fm_knowledge_log(knowledge, entry->class_index);
        uint32_t count;
        bool complete;
        const fm_change *changes = fm_change_log_since(log, entry->cursor, &count, &complete);
        fm_heuristic_survey_follow(entry->survey, changes, count, complete);
        entry->cursor = log->version;
    }
}

void fm_view_surveys_forget(fm_world *world)
{
    const struct fm_world_surveys *surveys = fm_world_surveys(world);
    for (uint32_t i = 0; i < surveys->count; i++) {
        if (fm_team_of(world, surveys->list[i].team)->forgets) {
            fm_heuristic_survey_forget(surveys->list[i].survey);
        }
    }
}

void fm_view_surveys_settle(fm_world *world)
{
    struct fm_world_surveys *surveys = fm_world_edit_surveys(world);
    for (uint32_t i = 0; i < surveys->count; i++) {
        struct fm_world_survey *entry = &surveys->list[i];
        fm_knowledge *knowledge = fm_team_of(world, entry->team)->knowledge;
        fm_knowledge_hang_tables(knowledge, entry->class_index, NULL);
        fm_heuristic_survey_destroy(entry->survey);
    }
    surveys->count = 0;
}

void fm_view_surveys_destroy(fm_world *world)
{
    struct fm_world_surveys *surveys = fm_world_edit_surveys(world);
    for (uint32_t i = 0; i < surveys->count; i++) {
        fm_heuristic_survey_destroy(surveys->list[i].survey);
    }
    fm_memory_release(fm_world_memory(world), surveys->list,
                      surveys->capacity * sizeof *surveys->list);
    fm_memory_release(fm_world_memory(world), surveys->running,
                      surveys->running_capacity * sizeof *surveys->running);
}

size_t fm_view_surveys_bytes(const fm_world *world)
{
    const struct fm_world_surveys *surveys = fm_world_surveys(world);
    size_t bytes = 0;
    for (uint32_t i = 0; i < surveys->count; i++) {
        bytes += fm_heuristic_survey_bytes(surveys->list[i].survey);
    }
    return bytes;
}

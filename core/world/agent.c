// core/world/agent.c: see agent.h: what few agents have. What each stage calls is in world_state.h.

#include "core/world/agent.h"

#include "core/world/agent_marks.h"
#include "core/world/true_map.h"
#include "core/world/world_parts.h"

bool fm_agent_reserve_tag(fm_world *world, struct fm_agent *agent)
{
    if (agent->tag == NULL) {
        agent->tag = fm_memory_allocate_zeroed(fm_world_memory(world), 1, sizeof *agent->tag);
        fm_world_edit_agents(world)->tag_count += agent->tag != NULL;
    }
    return agent->tag != NULL;
}

void fm_agent_drop_tag(fm_world *world, struct fm_agent *agent)
{
    fm_world_edit_agents(world)->tag_count -= agent->tag != NULL;
    fm_memory_release(fm_world_memory(world), agent->tag, sizeof *agent->tag);
    agent->tag = NULL;
    agent->tag_size = 0;
}

struct fm_agent *fm_world_find_any(const fm_world *world, fm_agent_id id)
{
    if (id.index1 == 0 || id.index1 > fm_world_agents(world)->slot_count) {
        return NULL;
    }
    struct fm_agent *agent = fm_agent_at(world, id.index1 - 1);
    bool is_there = agent->alive || agent->carrier != 0;
    return is_there && agent->generation == id.generation ? agent : NULL;
}

// The member that says which passenger comes first, or after others.
static uint32_t *link_to(const fm_world *world, struct fm_agent *carrier, uint32_t passenger)
{
    uint32_t *link = &carrier->passengers;
    while (*link != passenger) {
        link = &fm_agent_at(world, *link - 1)->next_passenger;
    }
    return link;
}

void fm_agent_take_aboard(fm_world *world, struct fm_agent *carrier, struct fm_agent *agent)
{
    FM_ASSERT(!agent->alive && agent->carrier == 0 && agent->passenger_count == 0);
    *link_to(world, carrier, 0) = fm_agent_id_of(world, agent).index1;
    carrier->passenger_count += 1;
    agent->carrier = fm_agent_id_of(world, carrier).index1;
    agent->next_passenger = 0;
}

void fm_agent_put_ashore(fm_world *world, struct fm_agent *agent)
{
    FM_ASSERT(agent->carrier != 0);
    struct fm_agent *carrier = fm_agent_at(world, agent->carrier - 1);
    *link_to(world, carrier, fm_agent_id_of(world, agent).index1) = agent->next_passenger;
    carrier->passenger_count -= 1;
    agent->carrier = agent->next_passenger = 0;
}

bool fm_agent_slot_can_return(const struct fm_agent *agent)
{
    return agent->generation < FM_AGENT_GENERATION_MAX &&
           agent->name_generation < FM_AGENT_GENERATION_MAX;
}

fm_status fm_world_prepare_sight(fm_world *world, uint32_t radius)
{
    FM_ASSERT(radius >= 1 && radius <= FM_SENSE_RADIUS_MAX);
    struct fm_world_map *map = fm_world_edit_map(world);
    fm_status status = FM_OK;
    if (map->other_sights[radius] == NULL) {
        fm_sense_rules rules = fm_world_rules_get(world)->sense;
        rules.radius = radius;
        status = fm_line_of_sight_create(rules, fm_world_memory(world), &map->other_sights[radius]);
    }
    if (status == FM_OK && map->sight_reach < radius) {
        map->sight_reach = radius;
    }
    return status;
}

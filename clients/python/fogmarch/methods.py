"""Made by generate.py from proto/protocol.json. Change proto/protocol.def instead."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypedDict, cast

PROTOCOL = 1
ROLES = ('none', 'player', 'observer', 'debug', 'admin')
TERRAINS = ('unknown', 'ground', 'out_of_bounds', 'trees', 'swamp', 'water', 'wall', 'building')
AGENT_STATES = ('idle', 'moving', 'waiting', 'blocked', 'holding', 'carried')
ORDER_ENDS = ('arrived', 'nearest_reached', 'unreachable', 'replaced', 'cancelled', 'died',
    'out_of_memory', 'target_lost', 'target_died', 'explored', 'crowded', 'deadline', 'boarded')
ORDER_KINDS = ('move', 'stop', 'patrol', 'hold', 'follow', 'guard', 'explore', 'flee',
    'keep_distance', 'scatter')
PLANNERS = ('dstar-lite', 'dstar-extra-lite', 'repeated-forward-astar', 'repeated-backward-astar',
    'adaptive-astar', 'mpgaa-star', 'repeated-jps', 'tba-star', 'rtba-star', 'tbaa-star',
    'rtaa-star', 'artaa-star', 'dartaa-star', 'lss-lrta-star', 'alss-lrta-star', 'dalss-lrta-star',
    'auto', 'breadth-first', 'depth-first', 'greedy-best-first', 'dijkstra', 'astar', 'goal-field')
# Methods with a command_id: sent again, they are carried out once.
COMMANDS = ('team.create', 'team.cost', 'agent.spawn', 'agent.remove', 'agent.order',
    'agent.cancel', 'agent.resume', 'agent.planner', 'agent.set', 'agent.place', 'agent.board',
    'agent.unboard', 'terrain.set', 'building.place', 'building.remove')

# What hello answers.
Hello = TypedDict('Hello', {
    # name and version of the server
    'server': str,
    # protocol number the server speaks
    'protocol': int,
    # number of this session, drawn at random: it shows nothing of the others; the server's log has
    # it as alias
    'session': int,
    # role of this session
    'role': str,
    # player: number of the world of its seat; 0 while there is no such world
    'world': int,
    # player: team of its seat
    'team': int,
    # secret for the next hello, should the connection break; good as long as the token that was
    # shown, after a restart only where the server keeps journals
    'resume': str,
    # whether `resume` decided
    'resumed': bool,
    # message_size, depth, elements, agents, cells: largest accepted
    'limits': dict[str, Any],
    # name of this node of a cluster; empty where there is none
    'node': str,
    # nodes of the cluster that live, where to go when this one does not: of each node, tcp, http,
    # as in world.locate
    'seeds': list[dict[str, Any]],
})

# What ping answers.
Ping = TypedDict('Ping', {
    # as sent, or 0
    'time': int,
    # milliseconds since the server started
    'uptime_ms': int,
})

# What token.create answers.
TokenCreate = TypedDict('TokenCreate', {
    # the secret
    'token': str,
    # for token.revoke
    'number': int,
})

# What map.upload answers.
MapUpload = TypedDict('MapUpload', {
    # number of the upload
    'upload': int,
    # bytes received so far
    'received': int,
})

# What world.create answers.
WorldCreate = TypedDict('WorldCreate', {
    # number of the world
    'world': int,
    # its name
    'name': str,
    # cells
    'width': int,
    # cells
    'height': int,
    # x, y of each player's base (skirmish), else empty
    'bases': list[int],
})

# What world.list answers.
WorldList = TypedDict('WorldList', {
    # of each: world, name, width, height, tick, agents, teams, paused, tick_hz, budget_ms, journal
    # and halted (as in world.info); for players agents and teams are 0
    'worlds': list[dict[str, Any]],
    # of a relay: why worlds may be missing here, which server is not relayed; empty: none is
    # missing
    'missing': str,
    # of a relay: numbers that it and the relays above it drew when they started, by which a relay
    # notices that it would relay itself; else empty
    'relays': list[int],
    # nodes of the cluster that live, as in hello: those have the other worlds
    'seeds': list[dict[str, Any]],
})

# What world.info answers.
WorldInfo = TypedDict('WorldInfo', {
    # number
    'world': int,
    # name
    'name': str,
    # cells
    'width': int,
    # cells
    'height': int,
    # ticks completed
    'tick': int,
    # whether it is paused
    'paused': bool,
    # ticks per second
    'tick_hz': float,
    # milliseconds a tick may take
    'budget_ms': float,
    # what happens when ticks are late
    'overload': str,
    # alive; for players 0
    'agents': int,
    # teams; for players 0
    'teams': int,
    # neighbours, corner_cutting, step_costs, sense_radius, sense_shape, line_of_sight, omniscient,
    # occupancy, pushed_stay, blocked_ticks, planner, landmarks, landmark_placement,
    # landmarks_move, stale, agents_max, teams_max, classes ([text]), saved_ticks, players_build
    'rules': dict[str, Any],
    # x, y of each player's base, if generated; for players empty
    'bases': list[int],
    # none, good, behind (the world waits for the disk), paused or read_only (it cannot be written)
    'journal': str,
    # why it stands still, besides a pause: its journal cannot be written, a relay or a standby has
    # lost its server; empty: it does not
    'halted': str,
    # of a replay: file, first_tick and last_tick (that the journal holds), differences (ticks whose
    # digest was not the recorded one), error (why it does not continue, or empty), seeks (the
    # tick it is on the way to, if it is); of other worlds empty
    'replay': dict[str, Any],
    # of the world after its last tick, 16 hexadecimal digits, 0 where it is not known; not for
    # players
    'digest': str,
})

# What world.pause answers.
WorldPause = TypedDict('WorldPause', {
    # ticks completed
    'tick': int,
})

# What world.resume answers.
WorldResume = TypedDict('WorldResume', {
    # ticks completed
    'tick': int,
})

# What world.step answers.
WorldStep = TypedDict('WorldStep', {
    # ticks completed
    'tick': int,
    # state digest, 16 hexadecimal digits
    'digest': str,
})

# What team.create answers.
TeamCreate = TypedDict('TeamCreate', {
    # number of the team in its world, from 1
    'team': int,
})

# What team.cost answers.
TeamCost = TypedDict('TeamCost', {
    # cells to which something else is added now
    'changed': int,
})

# What agent.spawn answers.
AgentSpawn = TypedDict('AgentSpawn', {
    # ids, in the order of the cells
    'agents': list[int],
    # by which the team's player knows them
    'names': list[int],
})

# What agent.remove answers.
AgentRemove = TypedDict('AgentRemove', {
    # how many
    'removed': int,
})

# What agent.order answers.
AgentOrder = TypedDict('AgentOrder', {
    # id of the first agent's order; the others count on from it; not with stop
    'order': int,
    # agents ordered
    'count': int,
})

# What agent.cancel answers.
AgentCancel = TypedDict('AgentCancel', {
    # orders that ended
    'count': int,
})

# What agent.resume answers.
AgentResume = TypedDict('AgentResume', {
    # agents whose order has an alert
    'count': int,
})

# What agent.planner answers.
AgentPlanner = TypedDict('AgentPlanner', {
    # agents that were named
    'count': int,
})

# What agent.set answers.
AgentSet = TypedDict('AgentSet', {
    # agents that were named
    'count': int,
})

# What agent.place answers.
AgentPlace = TypedDict('AgentPlace', {
    # agents that were named
    'count': int,
})

# What agent.board answers.
AgentBoard = TypedDict('AgentBoard', {
    # agents that boarded
    'count': int,
})

# What agent.unboard answers.
AgentUnboard = TypedDict('AgentUnboard', {
    # agents that came out
    'count': int,
})

# What agent.report answers.
AgentReport = TypedDict('AgentReport', {
    # ticks completed
    'tick': int,
    # of each, in the order asked for: agent, cell ([uint]), state, class, speed (cells per second;
    # 0: one step a tick), frozen, sight (cells; 0: the world's), alerted (it has stopped for an
    # enemy: see agent.resume), carrier (who carries it, 0; cell is where that one stands),
    # passengers ([uint]: whom it carries), orders ([map]: order, kind, goal ([uint]; empty: none
    # yet), ticks_left (to its deadline, queued from when its turn comes; 0: it has none); the one
    # under way comes first, then the queue), waits_for_turn (bool: not even the first has begun),
    # substitute ([uint]: where it goes instead of its goal), target (that it follows or guards,
    # 0), path ([uint]: x, y of the cells that come next; empty while none is known, as in the
    # tick after others made it step aside), why (a sentence), waits_ticks, blocker (who stands in
    # its way, 0), blocked_at ([uint])
    'agents': list[dict[str, Any]],
})

# What terrain.set answers.
TerrainSet = TypedDict('TerrainSet', {
    # cells that are different now
    'changed': int,
})

# What building.place answers.
BuildingPlace = TypedDict('BuildingPlace', {
    # its number, from 1; never given out again; for a player as in its views
    'building': int,
    # units that were on the site
    'pushed': int,
})

# What building.remove answers.
BuildingRemove = TypedDict('BuildingRemove', {
    # cells that are different now
    'changed': int,
})

# What path.query answers.
PathQuery = TypedDict('PathQuery', {
    # whether the path leads to the goal; of many: all of them do
    'complete': bool,
    # found, unreachable, limit or out_of_memory; of many: of the first that does not lead there
    'reason': str,
    # x, y from first to last; to the nearest reachable cell when unreachable; not of many. All
    # paths of a request have at most 262144 cells: of one for which there is no room only cost
    # and length are there, with limit
    'cells': list[int],
    # in the world's step costs; not of many
    'cost': int,
    # straight 1, diagonal sqrt 2, times the mean cost of the two cells; not of many
    'length': float,
    # work done
    'expansions': int,
    # of many: complete, reason, cells, cost, length, expansions of each
    'answers': list[dict[str, Any]],
    # ticks completed when the map was as the answer says
    'tick': int,
})

# What path.distance answers.
PathDistance = TypedDict('PathDistance', {
    # whether there is a path; of many: there are all
    'complete': bool,
    # found, unreachable, limit or out_of_memory; of many: of the first that is not there
    'reason': str,
    # in the world's step costs; not of many
    'cost': int,
    # straight 1, diagonal sqrt 2, times the mean cost of the two cells; not of many
    'length': float,
    # work done; none where it is known beforehand that there is no path
    'expansions': int,
    # of many: complete, reason, cost, length, expansions of each
    'answers': list[dict[str, Any]],
    # ticks completed when the map was as the answer says
    'tick': int,
})

# What path.reachable answers.
PathReachable = TypedDict('PathReachable', {
    # whether there is a path; of many: there are all
    'complete': bool,
    # found or unreachable; a blocked cell reaches nothing
    'reason': str,
    # 0: nothing is searched
    'expansions': int,
    # of many: 1 or 0 of each
    'reachable': list[int],
    # ticks completed when the map was as the answer says
    'tick': int,
})

# What path.nearest answers.
PathNearest = TypedDict('PathNearest', {
    # whether some goal can be reached
    'complete': bool,
    # found, unreachable, limit or out_of_memory
    'reason': str,
    # x, y of the nearest goal, or empty
    'goal': list[int],
    # its place among the goals, from 0
    'index': int,
    # x, y from first to last; none, with limit, when they are more than 262144
    'cells': list[int],
    # in the world's step costs
    'cost': int,
    # straight 1, diagonal sqrt 2, times the mean cost of the two cells
    'length': float,
    # work done
    'expansions': int,
    # ticks completed when the map was as the answer says
    'tick': int,
})

# What path.field answers.
PathField = TypedDict('PathField', {
    # whether every cell has its cost, or is known to have no path
    'complete': bool,
    # found, limit or out_of_memory
    'reason': str,
    # x, y, width, height
    'rect': list[int],
    # of each cell, row by row, in the world's step costs; 2^30 - 1: no path, or not found before
    # the limit
    'costs': list[int],
    # work done
    'expansions': int,
    # ticks completed when the map was as the answer says
    'tick': int,
})

# What subscribe answers.
Subscribe = TypedDict('Subscribe', {
    # number, unique in the session
    'subscription': int,
    # of the view: for `stream`, should the connection break
    'stream': int,
    # whether it continues after `since`, with deltas; else with a keyframe
    'resumed': bool,
})

# What stats answers.
Stats = TypedDict('Stats', {
    # uptime_ms, worlds, sessions, workers, rss_bytes, session_bytes (of all sessions, their
    # subscriptions too), unsent_bytes (that wait for clients), messages, bytes_in, bytes_out,
    # deltas_merged, keyframes_forced, streams_resumed, protocol_errors, turned_away, too_fast (of
    # these, by rate_connections), wrong_tokens, rate_refusals, client_lag_ticks (of the
    # subscription farthest behind)
    'server': dict[str, Any],
    # tick, agents, states, planners, orders_given, orders_ended, expansions, moves, cells_edited,
    # search_bytes, knowledge_bytes, known_cells (summed over teams), stuck (agents that wanted to
    # continue and did not get away for 128 ticks, where a cell holds one unit; looked for every
    # 128 ticks), escorts (agents that are let through a press of units of several sizes), lanes
    # (passages in which two streams keep to lanes), passing (agents that kept to the right in the
    # last tick, to pass units of other teams), conceding (agents that let units of other teams
    # push them in the last tick), bypasses (agents that were told another way round a press,
    # since the world was made or loaded), expansions_by_planner (with survey, seek and joint),
    # replans (goal, sensed, map_change), conflicts (waited, sidestepped, pushed, swap_avoided)
    # and escorts_ended (away: well; no_progress; out_of_time; dropped: the order ended
    # otherwise), all four since the world was made or loaded, tick_ms, overrun_ms and
    # order_to_first_move_ticks (count, p50, p99, p999, max), stages_ms (means; of these
    # `commands` is what was done for the world between ticks, which counts as the next tick's
    # time), late_ticks, skipped_ticks, degraded_ticks, ns_per_expansion, memory (bytes of the
    # world, bytes_max that it may have; of these agents, knowledge, searches; planners: count and
    # bytes of those of a kind, by name), journal (state, error, commits, rows, bytes, keyframes,
    # errors, waiting_bytes, waiting_ticks)
    'world': dict[str, Any],
    # with teams, of the first 4096: team, weight, agents, waiting (of them, have an order and
    # stand: no path yet, or others in the way), and in expansions share (of the last tick), saved
    # (for the next), used (in the last tick), used since the team began
    'teams': list[int],
})

# What debug.inspect answers.
DebugInspect = TypedDict('DebugInspect', {
    # id
    'agent': int,
    # team
    'team': int,
    # x, y
    'cell': list[int],
    # idle, moving, waiting, blocked or holding
    'state': str,
    # id, 0 for none
    'order': int,
    # of the order, or none
    'kind': str,
    # id of the agent that it follows or guards, 0 for none
    'target': int,
    # ids of the orders that wait for their turn, first to last
    'queue': list[int],
    # their kinds
    'queue_kinds': list[str],
    # x, y, or empty
    'goal': list[int],
    # nearest reachable cell it walks to instead, or empty
    'substitute': list[int],
    # as in world.create
    'planner': str,
    # name of the planner that searches for it now, which of auto is the one that it chose; empty:
    # none
    'runs': str,
    # movement class
    'class': str,
    # running, found, partial, unreachable, exhausted or none
    'plan': str,
    # agents that share the planner
    'sharers': int,
    # x, y of the next cells, at most 4096 of them
    'path': list[int],
    # cells on the open list
    'open': int,
    # cells expanded by the current search
    'closed': int,
    # since the planner began
    'expansions': int,
    # search memory
    'bytes': int,
    # of the team
    'knowledge_bytes': int,
    # cells the team knows
    'known': int,
    # since birth
    'moves': int,
    # changes of knowledge that made it search again
    'replans': int,
    # expansions per tick lately, smoothed
    'per_tick': float,
    # microseconds that these take, by what an expansion takes in this world lately
    'us_per_tick': float,
    # with rect: x, y, flags (1 open, 2 closed, 4 stale: of a tile that has changed since), g, h,
    # rhs of each cell; costs of 2^30 - 1 mean none
    'search': list[int],
    # with rect and the channel details, of each cell of search in its order: upper and lower 32
    # bits of its key on the open list, x, y of its parent (its own: none), and by how much h is
    # above the distance to the goal on an empty map (0 where h leads elsewhere)
    'details': list[int],
})

# What debug.subscribe answers.
DebugSubscribe = TypedDict('DebugSubscribe', {
    # number, unique in the session
    'subscription': int,
})

# What debug.explain answers.
DebugExplain = TypedDict('DebugExplain', {
    # id
    'agent': int,
    # as in debug.inspect
    'state': str,
    # a sentence
    'why': str,
    # id of the agent that stands in its way, 0 for none
    'blocker': int,
    # x, y of the cell that it cannot enter, or empty
    'blocked_at': list[int],
    # ticks since its last step under its order
    'waits_ticks': int,
    # it wanted to continue and did not get away when jams were looked for last, see stats; where a
    # cell holds one unit
    'stuck': bool,
    # ticks in which it has not come nearer to its goal than before, less those in which it made the
    # step that it wanted; its order ends at 1800, or from 116 on where others leave no way
    'kept_ticks': int,
    # none; search: it stands still while a joint search looks for a plan for those around it; plan:
    # it follows one; escort: others stand so that it gets through a press; stands: it stands for
    # the one in `escort`
    'help': str,
    # id of the agent with the escort that it has, or stands for; 0 for none
    'escort': int,
    # ids of those who stood for that one in the last tick, and moved only if pushed
    'stands': list[int],
    # x, y, width, height of the passage where it keeps to lanes, since two streams meet there, or
    # empty
    'lanes': list[int],
    # where it goes through that one: east, south, west or north; none
    'lanes_to': str,
    # it keeps to the right of its way up to this tick, to pass units of another team that come
    # towards it; longer if it sees more of them; 0: it does not
    'passes_until': int,
    # the team of those units, which it or a friend before it has seen; 0
    'passes_team': int,
    # another team's unit has blocked it for some ticks (see blocked_ticks of world.create), and it
    # let units of other teams push it in the last tick
    'concedes': bool,
    # x, y of the cell to which it goes first, round a press of its team on the shortest way or
    # round agents that stand in it, or empty
    'via': list[int],
    # id, x, y of the blocker, of whom that one waits for, and so on, at most 32; the last waits for
    # nobody, or was named before: they stand in a circle
    'waits_for': list[int],
    # newest first, at most 40: tick, order, event (given, begun, ended), kind or reason, cell
    'orders': list[dict[str, Any]],
    # of the search that leads it, newest first, at most 20: tick, expansions, changed (cells), cell
    # (the first of them)
    'replans': list[dict[str, Any]],
})

# What debug.compare answers.
DebugCompare = TypedDict('DebugCompare', {
    # id
    'agent': int,
    # whose knowledge it is
    'team': int,
    # x, y
    'from': list[int],
    # x, y
    'goal': list[int],
    # ticks completed when the map was as the answers say
    'tick': int,
    # of each planner, in their order: planner, reason (found, partial: it would move before it
    # knows the whole path, unreachable, limit, out_of_memory, or unfit: it cannot work by the
    # world's rules), cells (x, y from first to last; of a partial answer the first step), cost,
    # length, expansions, us (microseconds of a worker), open and closed (cells), bytes, and with
    # rect search as in debug.inspect
    'answers': list[dict[str, Any]],
})

# What debug.top answers.
DebugTop = TypedDict('DebugTop', {
    # the most expensive first, of agents that share one search the first of them: per_tick
    # (expansions, smoothed; by agents an agent's part of its search's), expansions (of the whole
    # search), agent, team, agents (who share it), bytes, goal, planner, runs (as in
    # debug.inspect); of edits: tick, expansions (of all searches in the tick that followed),
    # cells, cell
    'rows': list[dict[str, Any]],
})

# What debug.jams answers.
DebugJams = TypedDict('DebugJams', {
    # how many
    'stuck': int,
    # of those listed: groups of agents that wait for each other, directly or through others
    'groups': int,
    # at most 256 of them: agent, team, size (cells to a side), cell, goal, why (a sentence),
    # blocker (who stands where it wants to go, 0 for nobody), blocker_cell (where that one
    # stands, or empty), waits_ticks, kept_ticks and help as in debug.explain, group (from 0)
    'agents': list[dict[str, Any]],
    # at most 32 of the agents that are let through a press: agent, team, size, cell, next (x, y of
    # where it wanted to go in the last tick, or empty), since (the tick in which that began),
    # stands (ids of those who stood for it in the last tick, and moved only if pushed)
    'escorts': list[dict[str, Any]],
    # at most 32 of the passages where two streams meet, of one team or of two: team, passage (x, y,
    # width, height), vertical (it leads from north to south), open (those who pass it keep to
    # their lanes; not yet, or no longer, where few want through from one side), ahead and back
    # (how many wanted through in the last tick, to the east or south and back), directions (of
    # each lane, from the north or west: 0 ahead, 1 back)
    'lanes': list[dict[str, Any]],
    # ids of at most 256 of those that kept to the right in the last tick, see debug.explain
    'passing': list[int],
    # ids of at most 256 of those that let units of other teams push them in the last tick
    'conceding': list[int],
})

# What world.save answers.
WorldSave = TypedDict('WorldSave', {
    # number of the file, for save.download
    'save': int,
    # bytes
    'total': int,
    # ticks completed
    'tick': int,
    # of the world after its last tick, 16 hexadecimal digits
    'digest': str,
})

# What save.download answers.
SaveDownload = TypedDict('SaveDownload', {
    # the piece; shorter at the end of the file
    'data': bytes,
    # bytes of the whole file
    'total': int,
})

# What world.load answers.
WorldLoad = TypedDict('WorldLoad', {
    # number of the world
    'world': int,
    # its name
    'name': str,
    # cells
    'width': int,
    # cells
    'height': int,
    # x, y of each player's base (skirmish), else empty
    'bases': list[int],
    # ticks completed
    'tick': int,
    # of the world after its last tick, 16 hexadecimal digits; as saved, zero where the file does
    # not say
    'digest': str,
})

# What replay.list answers.
ReplayList = TypedDict('ReplayList', {
    # the newest 256, newest first: file, bytes, changed (seconds since 1970), world and name (that
    # it had), first_tick, last_tick, runs (whether this world is still there), error (why it
    # cannot be replayed, or empty; without it the others say nothing)
    'journals': list[dict[str, Any]],
    # of each: world, file, tick, paused
    'replays': list[dict[str, Any]],
})

# What replay.open answers.
ReplayOpen = TypedDict('ReplayOpen', {
    # number of the replay
    'world': int,
    # name that the world had
    'name': str,
    # cells
    'width': int,
    # cells
    'height': int,
    # ticks completed: where it is
    'tick': int,
    # the oldest that it can go to
    'first_tick': int,
    # the newest; grows while the world runs
    'last_tick': int,
})

# What replay.seek answers.
ReplaySeek = TypedDict('ReplaySeek', {
    # where it is
    'tick': int,
    # of the world, as it was recorded, 16 hexadecimal digits; 0 where it is not known, such as at
    # the first tick
    'digest': str,
    # the oldest that it can go to
    'first_tick': int,
    # the newest
    'last_tick': int,
    # ticks since it was opened whose digest was not the recorded one; 0: it shows what was
    'differences': int,
})

# What replay.play answers.
ReplayPlay = TypedDict('ReplayPlay', {
    # where it is
    'tick': int,
})

# What replay.pause answers.
ReplayPause = TypedDict('ReplayPause', {
    # where it is
    'tick': int,
})

# What world.locate answers.
WorldLocate = TypedDict('WorldLocate', {
    # number
    'world': int,
    # name
    'name': str,
    # whether it is on the node that answers
    'here': bool,
    # name of its node; empty where there is no cluster
    'node': str,
    # where clients reach that, as address:port; the same
    'tcp': str,
    # where pages reach it; empty: nowhere
    'http': str,
})

# What cluster.status answers.
ClusterStatus = TypedDict('ClusterStatus', {
    # name; empty: there is none, and the rest says nothing
    'cluster': str,
    # name of this node
    'node': str,
    # whether its lease holds: else others may have its worlds
    'member': bool,
    # why etcd did not answer last, or what it refuses; empty: it did
    'error': str,
    # good, or what is wrong: no_majority, refused, quota_full, lease_over
    'state': str,
    # then: a sentence for operators; else empty
    'what_to_do': str,
    # of etcd: term (grows with each new leader); of this node: lease_ms (for which its lease holds,
    # unless it is renewed), leases_lost
    'engine': dict[str, Any],
    # of each: node, tcp, http, version, worlds, agents, load (permille of its time that ticks
    # take), draining (it gives its worlds away)
    'nodes': list[dict[str, Any]],
    # of each: world, name, node, epoch, to (node that it moves to; empty: it does not), state
    # (running; moving; waiting: its node is gone; damaged: its log could not be brought back
    # here, or the key of its owner is none; halted: it stands still until etcd takes its writes
    # again; unknown: etcd does not answer this node)
    'worlds': list[dict[str, Any]],
    # of this node: count, mean_ms and max_ms of appends to the log, unknown (without an answer in
    # time), fenced (refused: another node had the world), taken (worlds taken over), moved
    # (worlds that were moved here), move_ms (the longest pause of one)
    'appends': dict[str, Any],
})

# What token.list answers.
TokenList = TypedDict('TokenList', {
    # of each: number, role; of players world, team; expires_s, seconds that it is good for, where
    # it ends; used_s, seconds since hello took it last, where it ever did
    'tokens': list[dict[str, Any]],
})

# What cluster.move answers.
ClusterMove = TypedDict('ClusterMove', {
    # number
    'world': int,
    # where it goes; empty where there is no cluster
    'node': str,
    # where clients reach that, as address:port; the same
    'tcp': str,
    # where pages reach it; empty: nowhere
    'http': str,
    # the world is on that node already, and nothing happens
    'there': bool,
})

# What cluster.drain answers.
ClusterDrain = TypedDict('ClusterDrain', {
    # its name; empty where there is no cluster
    'node': str,
    # that it has to give away
    'worlds': int,
})

# What cluster.undrain answers.
ClusterUndrain = TypedDict('ClusterUndrain', {
    # its name; empty where there is no cluster
    'node': str,
    # that it still has
    'worlds': int,
})

# What journal.follow answers.
JournalFollow = TypedDict('JournalFollow', {
    # of the server: grows with each standby that took over
    'epoch': int,
    # whether nothing is sent to anybody before the standby has it
    'replica': bool,
})

# What standby.status answers.
StandbyStatus = TypedDict('StandbyStatus', {
    # primary, standby, or promoting
    'role': str,
    # grows with each standby that took over
    'epoch': int,
    # address: of the standby, empty while there is none; of a standby: of the server that it
    # follows
    'peer': str,
    # of a primary: none, catching_up, in_step, late (it has not said for replica_timeout_ms what it
    # has); of a standby: following, connecting, refused
    'state': str,
    # why a standby is not following; else empty
    'error': str,
    # of a primary: replica where nothing is sent before the standby has it, degraded where that is
    # wished for and not so now, blocked where all waits for a standby; else the setting
    'durability': str,
    # ticks that the standby is behind, of the world that is furthest behind
    'lag_ticks': int,
    # bytes of rows and keyframes that it does not have on its disk yet
    'lag_bytes': int,
    # of each: world, name, tick, lag_ticks
    'worlds': list[dict[str, Any]],
})

# What standby.promote answers.
StandbyPromote = TypedDict('StandbyPromote', {
    # its new one
    'epoch': int,
    # that go on here
    'worlds': int,
})

# All that a view shows. Replaces everything received for the subscription before.
Keyframe = TypedDict('Keyframe', {
    # which
    'subscription': int,
    # number of the world
    'world': int,
    # 0: everything
    'team': int,
    # ticks completed
    'tick': int,
    # x, y, width, height of the part that is shown
    'rect': list[int],
    # runs over the rectangle's cells, row by row: count, look, count, look ... (look: as in Looks,
    # under Views)
    'cells': list[int],
    # of each: id, team, x, y, state
    'agents': list[int],
    # left out when empty: buildings that the view believes in and that touch the rectangle; of
    # each: number, owner, x, y, width, height. A building is one thing: who sees one of its cells
    # is told its owner and whole rectangle, while `cells` tells its cells as they are seen. A
    # player's numbers count the buildings that its team has seen
    'buildings': list[int],
    # left out when empty: agents of another movement class than the world's first; of each: id,
    # class (from 0, in the order of world.create)
    'classes': list[int],
    # left out when empty: agents with a tag (agent.set) that the view may know; of each: id, bytes
    # of its tag
    'tagged': list[int],
    # with `tagged`: those tags, one after the other
    'tags': bytes,
    # with `motion`: agents of which something is known; of each: id, heading, speed, count of
    # waypoints, then x, y of each (see *Motion*)
    'motion': list[int],
    # with `sight`: of the rectangle's cells, row by row, how many are not visible, then how many
    # are, are not ...; the counts add up to width times height
    'visible': list[int],
    # left out unless true: too many orders ended, or too many alerts came, since the last keyframe
    # or delta, or ticks have passed since the place where the client wanted to continue (`since`
    # of subscribe). Some may be in no delta; agent.report tells the orders that units still have
    'untold': bool,
}, total=False)

# What changed in a view since the last keyframe or delta. Empty entries are left out.
Delta = TypedDict('Delta', {
    # which
    'subscription': int,
    # number of the world
    'world': int,
    # ticks completed; several ticks may be merged into one delta
    'tick': int,
    # x, y, width, height, when the view has moved: cells that it did not show before are unknown
    # until `cells` says more
    'rect': list[int],
    # agents that moved or changed state; of each: id, x, y, state
    'moved': list[int],
    # agents that came into view; of each: id, team, x, y, state
    'enter': list[int],
    # as in the keyframe, all of them, possibly none: when any has come or gone
    'buildings': list[int],
    # as in the keyframe, of agents that came into view, and of all that have another class now
    'classes': list[int],
    # as in the keyframe, of agents that came into view with a tag, and of all that have another tag
    # now; 0 bytes: none any more
    'tagged': list[int],
    # as in the keyframe
    'tags': bytes,
    # agents that left the view; of each: id, reason (0 fog, 1 removed, 2 outside the rectangle, 3
    # it has another team now and, where it is still seen, is in `enter` of the same delta; 4 it
    # boarded a carrier)
    'leave': list[int],
    # cells learned or changed, as runs in a row: x, y, count, look
    'cells': list[int],
    # encoding dense, in place of `moved`: see *Dense deltas*
    'steps': bytes,
    # encoding dense, in place of `cells`: see *Dense deltas*
    'runs': bytes,
    # as in the keyframe, of agents that came into view and of those whose motion is another now
    'motion': list[int],
    # with `sight`: cells that are visible now, or are not any more; of each run: x, y, count, 1 or
    # 0. A run goes on at the beginning of the rectangle's next row
    'visible': list[int],
    # with `sight` and encoding dense, in place of `visible`: see *Dense deltas*
    'sight': bytes,
    # orders that ended; of each: order, agent, reason (one of those for which orders end, listed
    # below), x, y
    'ended': list[int],
    # units that stopped for an enemy; of each: order, agent, the enemy (0: out of sight again), and
    # x, y where that stood
    'alerts': list[int],
    # ids of the view's own agents that were removed while others carried them (see *Transports*);
    # they had left the view before
    'died': list[int],
    # observer and above: microseconds of the tick, microseconds of its search stage, expansions,
    # agents that moved, agents alive
    'load': list[int],
}, total=False)

# What debug.subscribe asked for, after each tick; beside these entries all that debug.inspect answers.
Debug = TypedDict('Debug', {
    # which
    'subscription': int,
    # number of the world
    'world': int,
    # ticks completed
    'tick': int,
    # in place of the agent's entries, when it is no more: why; the subscription is over
    'ended': str,
}, total=False)

# A world was destroyed; the subscription is over.
WorldEnded = TypedDict('WorldEnded', {
    # which
    'subscription': int,
    # number of the world
    'world': int,
}, total=False)

# The server has heard nothing for a while, or reads nothing because too many of the client's requests wait. A client that is there sends a ping, with this time; anything else that it sends does as well.
Idle = TypedDict('Idle', {
    # milliseconds since the server started
    'time': int,
}, total=False)

# The server ends.
GoingDown = TypedDict('GoingDown', {
    # milliseconds until it disconnects
    'in_ms': int,
    # why
    'reason': str,
}, total=False)

# Another node of the cluster has the world now, and the subscription is over here. Subscribe there, with `stream` and `since`; any node knows where that is (world.locate).
Moved = TypedDict('Moved', {
    # which
    'subscription': int,
    # number of the world
    'world': int,
    # name of the node that has it; empty: not known yet, like the next two
    'node': str,
    # where clients reach that, as address:port
    'tcp': str,
    # where pages reach it
    'http': str,
    # for hello there, in place of a token; empty: the cluster gives none
    'ticket': str,
    # the client knows all up to here: `since` of its next subscription, for a view that is to
    # continue without a keyframe; 0: it knows nothing
    'tick': int,
}, total=False)

# For standbys, after journal.follow: the next piece of the server's journals.
Shipment = TypedDict('Shipment', {
    # counts them, for journal.have
    'number': int,
    # as server/journal/shipment.h says
    'data': bytes,
}, total=False)

class Methods:
    """Every method of the protocol as a coroutine; Client inherits them."""

    async def call(self, method: str, params: Mapping[str, Any]) -> Any:
        """Calls a method by its name; parameters that are None are left out."""
        raise NotImplementedError

    async def hello(
        self, *,
        protocol: int,
        client: str | None = None,
        token: str | None = None,
        resume: str | None = None,
        ticket: str | None = None,
    ) -> Hello:
        """First message of a session. Without it every other method is denied. Lowest role: none.

        protocol: protocol number the client speaks: 1
        client: name of the client program, for logs
        token: secret that decides the role; not needed on loopback, where the server has none, but
            a wrong one is refused there, too
        resume: what an earlier hello was answered: the session gets that one's role and seat,
            without the token, and ends that one; where it is not good any more, the ticket or token
            decides
        ticket: what `moved` said, in place of a token, on another node of the cluster: gives the
            role and seat that the session had there; good for a minute, and no longer than the
            token behind it; where it is not good, the token decides
        """
        params: dict[str, Any] = {
            'protocol': protocol,
            'client': client,
            'token': token,
            'resume': resume,
            'ticket': ticket,
        }
        return cast(Hello, await self.call('hello', params))

    async def ping(
        self, *,
        time: int | None = None,
    ) -> Ping:
        """Answers at once from the event loop. Lowest role: none.

        time: echoed
        """
        params: dict[str, Any] = {
            'time': time,
        }
        return cast(Ping, await self.call('ping', params))

    async def token_create(
        self, *,
        role: str,
        world: int | None = None,
        team: int | None = None,
        expires_s: int | None = None,
    ) -> TokenCreate:
        """Makes a secret that hello takes, for instance for a player's seat. It is shown once and
        kept as a hash; it ends with its world, with token.revoke, with its time, or with a
        server that keeps no journals. Lowest role: admin.

        role: player, observer, debug or admin
        world: player: number of the world
        team: player: team
        expires_s: seconds after which it ends, with its sessions; absent: never
        """
        params: dict[str, Any] = {
            'role': role,
            'world': world,
            'team': team,
            'expires_s': expires_s,
        }
        return cast(TokenCreate, await self.call('token.create', params))

    async def token_revoke(
        self, *,
        number: int,
    ) -> None:
        """Ends a token that token.create made, and the sessions that were opened with it. Lowest
        role: admin.

        number: its number
        """
        params: dict[str, Any] = {
            'number': number,
        }
        await self.call('token.revoke', params)

    async def map_upload(
        self, *,
        offset: int,
        data: bytes,
        upload: int | None = None,
        total: int | None = None,
    ) -> MapUpload:
        """Sends a file in pieces, in order: a .map file for world.create, a saved world for
        world.load. An upload belongs to its session. Lowest role: admin.

        upload: upload to continue with; absent: begin one
        total: bytes of the whole file; with the first piece
        offset: where this piece belongs: bytes sent so far
        data: the piece
        """
        params: dict[str, Any] = {
            'upload': upload,
            'total': total,
            'offset': offset,
            'data': data,
        }
        return cast(MapUpload, await self.call('map.upload', params))

    async def world_create(
        self, *,
        name: str,
        map: bytes | None = None,
        upload: int | None = None,
        generator: str | None = None,
        width: int | None = None,
        height: int | None = None,
        seed: int | None = None,
        players: int | None = None,
        walls_removed: int | None = None,
        room_side: int | None = None,
        blocked_permille: int | None = None,
        neighbours: int | None = None,
        corner_cutting: bool | None = None,
        step_costs: str | None = None,
        sense_radius: int | None = None,
        sense_shape: str | None = None,
        line_of_sight: bool | None = None,
        omniscient: bool | None = None,
        occupancy: str | None = None,
        pushed_stay: bool | None = None,
        blocked_ticks: int | None = None,
        planner: str | None = None,
        classes: str | None = None,
        landmarks: int | None = None,
        landmark_placement: str | None = None,
        landmarks_move: bool | None = None,
        stale: str | None = None,
        agents_max: int | None = None,
        teams_max: int | None = None,
        saved_ticks: int | None = None,
        players_build: int | None = None,
        tick_hz: float | None = None,
        budget_ms: float | None = None,
        overload: str | None = None,
        paused: bool | None = None,
    ) -> WorldCreate:
        """Makes a world from a map (map or upload) or from a generator. Lowest role: admin.

        name: unique among worlds; letters, digits, . _ -
        map: a whole .map file
        upload: a finished map.upload
        generator: open, maze, rooms, random or skirmish
        width: generator: cells; 512
        height: generator: cells; 512
        seed: generator: seed; 1
        players: skirmish: players; 4
        walls_removed: maze: blocked cells opened; 750
        room_side: rooms: cells between walls; 16
        blocked_permille: random: blocked cells in 1/1000; 300
        neighbours: 4 or 8; 8
        corner_cutting: a diagonal step needs one free side cell, not two; false
        step_costs: 1, 10/14 or 70/99; 1 with 4 neighbours, else 10/14
        sense_radius: cells; 5
        sense_shape: square, diamond or disc; diamond with 4 neighbours, else square
        line_of_sight: blocked cells hide what lies behind; false
        omniscient: teams know the whole map from the start; false
        occupancy: none: any number of agents in a cell; exclusive: one, as fogmarch create asks
            for; none
        pushed_stay: exclusive: an agent without an order that is pushed off its cell stays where it
            came to stand, and does not go back; false
        blocked_ticks: exclusive: after so many ticks an order ends, as crowded or unreachable,
            whose way agents of other teams block that stand still; 0: not for that reason, but
            after 1,800 ticks, also where its own team blocks it, or 116 where agents that stand,
            and may not be pushed, leave no way, and an agent that another team has blocked for 4
            ticks, a large one for 20, lets it push; 0
        planner: planner of agents that are not given another; from the config
        classes: movement classes, at most 8, as in ground;boat:water=1;tank:size=3,ground=1,swamp=2
            (name, size in cells 1..4, cost of each terrain that can be entered); ground
        landmarks: for planners with heuristic=landmarks: landmarks of each team's map; 8
        landmark_placement: farthest, random, avoid or past-the-goal; farthest
        landmarks_move: now and then the least used landmark moves to the goal of a recent order;
            false
        stale: refuse or allow: whether landmarks and clusters that a cheaper step has outdated are
            used until they are measured again, so that paths may be longer; refuse
        agents_max: agents; 65536
        teams_max: teams; 4096
        saved_ticks: how many ticks' worth of its share of the search a team may save; 8
        players_build: how many buildings the players of a team may have standing; 0: they do not
            build
        tick_hz: ticks per second; from the config
        budget_ms: milliseconds a tick may take; from the config
        overload: slip, skip or degrade; from the config
        paused: begin paused; false
        """
        params: dict[str, Any] = {
            'name': name,
            'map': map,
            'upload': upload,
            'generator': generator,
            'width': width,
            'height': height,
            'seed': seed,
            'players': players,
            'walls_removed': walls_removed,
            'room_side': room_side,
            'blocked_permille': blocked_permille,
            'neighbours': neighbours,
            'corner_cutting': corner_cutting,
            'step_costs': step_costs,
            'sense_radius': sense_radius,
            'sense_shape': sense_shape,
            'line_of_sight': line_of_sight,
            'omniscient': omniscient,
            'occupancy': occupancy,
            'pushed_stay': pushed_stay,
            'blocked_ticks': blocked_ticks,
            'planner': planner,
            'classes': classes,
            'landmarks': landmarks,
            'landmark_placement': landmark_placement,
            'landmarks_move': landmarks_move,
            'stale': stale,
            'agents_max': agents_max,
            'teams_max': teams_max,
            'saved_ticks': saved_ticks,
            'players_build': players_build,
            'tick_hz': tick_hz,
            'budget_ms': budget_ms,
            'overload': overload,
            'paused': paused,
        }
        return cast(WorldCreate, await self.call('world.create', params))

    async def world_list(
        self,
    ) -> WorldList:
        """Lists the worlds; for a player that of its seat. Lowest role: player.
        """
        params: dict[str, Any] = {
        }
        return cast(WorldList, await self.call('world.list', params))

    async def world_info(
        self, *,
        world: int | None = None,
        name: str | None = None,
    ) -> WorldInfo:
        """Describes one world. Lowest role: player.

        world: number of the world
        name: or its name
        """
        params: dict[str, Any] = {
            'world': world,
            'name': name,
        }
        return cast(WorldInfo, await self.call('world.info', params))

    async def world_destroy(
        self, *,
        world: int,
    ) -> None:
        """Ends a world and gives its memory back. Its subscriptions end. In a cluster that happens,
        and is answered, once etcd has removed the world; moved: another node had it first.
        Lowest role: admin.

        world: number of the world
        """
        params: dict[str, Any] = {
            'world': world,
        }
        await self.call('world.destroy', params)

    async def world_pause(
        self, *,
        world: int,
    ) -> WorldPause:
        """Stops ticking. Commands are still accepted and done. Lowest role: admin.

        world: number of the world
        """
        params: dict[str, Any] = {
            'world': world,
        }
        return cast(WorldPause, await self.call('world.pause', params))

    async def world_resume(
        self, *,
        world: int,
        tick_hz: float | None = None,
        budget_ms: float | None = None,
    ) -> WorldResume:
        """Continues ticking; tick_hz and budget_ms may be changed on the way. Lowest role: admin.

        world: number of the world
        tick_hz: ticks per second
        budget_ms: milliseconds a tick may take
        """
        params: dict[str, Any] = {
            'world': world,
            'tick_hz': tick_hz,
            'budget_ms': budget_ms,
        }
        return cast(WorldResume, await self.call('world.resume', params))

    async def world_step(
        self, *,
        world: int,
        ticks: int | None = None,
    ) -> WorldStep:
        """Runs ticks of a paused world at once; answers when they are done. When the world goes to
        another node meanwhile, answers with the ticks that were done before. Lowest role:
        admin.

        world: number of the world
        ticks: how many; 1
        """
        params: dict[str, Any] = {
            'world': world,
            'ticks': ticks,
        }
        return cast(WorldStep, await self.call('world.step', params))

    async def team_create(
        self, *,
        world: int,
        planner: str | None = None,
        weight: int | None = None,
        command_id: int | None = None,
    ) -> TeamCreate:
        """Makes a team, whose agents share what they see. Lowest role: admin.

        world: number of the world
        planner: planner of its agents; the world's
        weight: of its share of the search, among teams that have agents; 1
        command_id: makes sending again safe, see *Sending again*; of the client's own choice
        """
        params: dict[str, Any] = {
            'world': world,
            'planner': planner,
            'weight': weight,
            'command_id': command_id,
        }
        return cast(TeamCreate, await self.call('team.create', params))

    async def team_cost(
        self, *,
        world: int,
        team: int,
        cost: int,
        cells: Sequence[int] | None = None,
        rects: Sequence[int] | None = None,
        command_id: int | None = None,
    ) -> TeamCost:
        """Adds to what cells cost one team, seen or not: its paths keep away from them where
        another way is cheaper, as from the reach of a tower. Nothing is blocked by it, and no
        other team has to do with it. What was added to a cell before is replaced. At most
        65,536 cells of a team between two ticks, else limit; the searches that they touch are
        mended within the tick's budget. All cells or, on an error, none. Lowest role: admin.

        world: number of the world
        team: whose paths heed it
        cost: what is added to the cost of a cell, which is 1 on open floor; 0: nothing any more. A
            cell costs at most 250 in all
        cells: x, y of each cell
        rects: x, y, width, height of each rectangle
        command_id: makes sending again safe, see *Sending again*; of the client's own choice
        """
        params: dict[str, Any] = {
            'world': world,
            'team': team,
            'cost': cost,
            'cells': cells,
            'rects': rects,
            'command_id': command_id,
        }
        return cast(TeamCost, await self.call('team.cost', params))

    async def agent_spawn(
        self, *,
        world: int,
        team: int,
        cells: Sequence[int],
        planner: str | None = None,
        class_: str | None = None,
        speed: float | None = None,
        place: str | None = None,
        command_id: int | None = None,
    ) -> AgentSpawn:
        """Puts agents on free cells: all of them or, on an error, none. Lowest role: admin.

        world: number of the world
        team: team
        cells: x, y of each agent, of its north-west cell when it is larger than one
        planner: planner; the team's
        class_: movement class; the world's first
        speed: cells per second of game time (ticks at the tick_hz that the world was made with), at
            most one step a tick; absent: one step a tick, straight or diagonal
        place: exact: on the cells or nowhere; nearest: on the nearest cells that can hold them;
            exact
        command_id: makes sending again safe, see *Sending again*; of the client's own choice
        """
        params: dict[str, Any] = {
            'world': world,
            'team': team,
            'cells': cells,
            'planner': planner,
            'class': class_,
            'speed': speed,
            'place': place,
            'command_id': command_id,
        }
        return cast(AgentSpawn, await self.call('agent.spawn', params))

    async def agent_remove(
        self, *,
        world: int,
        agents: Sequence[int],
        command_id: int | None = None,
    ) -> AgentRemove:
        """Takes agents out of the world; their orders end with reason died. Lowest role: admin.

        world: number of the world
        agents: ids
        command_id: makes sending again safe, see *Sending again*; of the client's own choice
        """
        params: dict[str, Any] = {
            'world': world,
            'agents': agents,
            'command_id': command_id,
        }
        return cast(AgentRemove, await self.call('agent.remove', params))

    async def agent_order(
        self, *,
        world: int,
        agents: Sequence[int],
        kind: str,
        goal: Sequence[int] | None = None,
        goals: Sequence[int] | None = None,
        cells: Sequence[int] | None = None,
        target: int | None = None,
        radius: int | None = None,
        queue: bool | None = None,
        at: int | None = None,
        before: Sequence[int] | None = None,
        replaces: Sequence[int] | None = None,
        deadline: int | None = None,
        once: bool | None = None,
        alert: int | None = None,
        loop: bool | None = None,
        spread: bool | None = None,
        formation: str | None = None,
        common_speed: bool | None = None,
        max_detour: int | None = None,
        on_unreachable: str | None = None,
        command_id: int | None = None,
    ) -> AgentOrder:
        """Gives one order to each of many agents; each ends exactly once, see the delta's `ended`.
        Not for observer and debug. Lowest role: player.

        world: number of the world
        agents: ids; a player's order names each once, unless it has before or replaces
        kind: move, stop, patrol, hold, follow, guard, explore, flee, keep_distance or scatter
        goal: x, y for all of them. move: where to; patrol: there and back; guard: the place;
            scatter: the middle, absent: the middle of where they stand
        goals: move: or x, y for each; patrol: or x, y of up to 32 waypoints
        cells: flee: x, y of places to flee from, besides seen enemies
        target: follow: id of an agent, own or seen; guard: of an own one, in place of goal;
            keep_distance: own or seen, absent: every enemy that the team sees
        radius: cells. follow: how near, 2; guard: how far it may be, 4; flee: from what is nearer,
            8; keep_distance: how far, 6; scatter: how far from the middle, absent: about nine cells
            for each unit
        queue: after the orders that the agents have, at most 32, not in their place; not with stop;
            false
        at: in place of queue: into the queue after so many others, the order under way not counted;
            0: next. Where fewer wait, after all of them
        before: in place of queue: before these queued orders; one of each agent, in the same order
        replaces: in place of queue: each in place of one order that its agent has, queued or under
            way, which ends as replaced; all others stay. As many as agents, in the same order
        deadline: ends as deadline so many ticks after its turn came, if it has not ended before;
            not with stop; absent: never
        once: follow: a chase, which ends as arrived as soon as it is within the radius, with a
            straight way between; keep_distance: ends as arrived as soon as it is far enough; false:
            it goes on
        alert: move, scatter, patrol, guard, explore, hold: stops as soon as its team sees an enemy
            within so many cells of it, and the delta's `alerts` tells; agent.resume lets it go on.
            A move with it is an attack-move; absent: stops for nobody
        loop: patrol: from the last waypoint straight to the first, not back by the others; false
        spread: move with goal, agents of one team: a free cell around the goal for each, by one
            shared search; false
        formation: move with goal: keep (as they stand), line or box, across the direction of march;
            or none; none
        common_speed: move: all as fast as the slowest of these agents; false
        max_detour: move, without spread and formation: when its path gets longer than so many per
            cent of the first one that was known, it does as with a goal that cannot be reached, and
            goes nowhere else; absent: any length
        on_unreachable: nearest, fail or wait; nearest
        command_id: makes sending again safe, see *Sending again*; of the client's own choice
        """
        params: dict[str, Any] = {
            'world': world,
            'agents': agents,
            'kind': kind,
            'goal': goal,
            'goals': goals,
            'cells': cells,
            'target': target,
            'radius': radius,
            'queue': queue,
            'at': at,
            'before': before,
            'replaces': replaces,
            'deadline': deadline,
            'once': once,
            'alert': alert,
            'loop': loop,
            'spread': spread,
            'formation': formation,
            'common_speed': common_speed,
            'max_detour': max_detour,
            'on_unreachable': on_unreachable,
            'command_id': command_id,
        }
        return cast(AgentOrder, await self.call('agent.order', params))

    async def agent_cancel(
        self, *,
        world: int,
        agents: Sequence[int],
        orders: Sequence[int],
        command_id: int | None = None,
    ) -> AgentCancel:
        """Ends orders, queued or under way, as cancelled: all that are named or, on an error, none.
        The others in the queues stay; after one that was under way the next begins. Not for
        observer and debug. Lowest role: player.

        world: number of the world
        agents: ids; one again for each more of its orders
        orders: one order of each, in the same order; no_order when the agent has no such order, or
            no longer
        command_id: makes sending again safe, see *Sending again*; of the client's own choice
        """
        params: dict[str, Any] = {
            'world': world,
            'agents': agents,
            'orders': orders,
            'command_id': command_id,
        }
        return cast(AgentCancel, await self.call('agent.cancel', params))

    async def agent_resume(
        self, *,
        world: int,
        agents: Sequence[int],
        ticks: int | None = None,
        command_id: int | None = None,
    ) -> AgentResume:
        """Lets units go on that stopped for an enemy (`alert` of their orders). Where an enemy is
        near they stop again, and tell again. Not for observer and debug. Lowest role: player.

        world: number of the world
        agents: ids; those whose order has no alert are left alone
        ticks: in which they stop for nobody, from now on, whether they have stopped or not; 0
        command_id: makes sending again safe, see *Sending again*; of the client's own choice
        """
        params: dict[str, Any] = {
            'world': world,
            'agents': agents,
            'ticks': ticks,
            'command_id': command_id,
        }
        return cast(AgentResume, await self.call('agent.resume', params))

    async def agent_planner(
        self, *,
        world: int,
        agents: Sequence[int],
        planner: str | None = None,
        command_id: int | None = None,
    ) -> AgentPlanner:
        """Gives agents another planner, all of them or, on an error, none. Their orders stay; their
        searches start over in the next tick. Lowest role: admin.

        world: number of the world
        agents: ids
        planner: as in world.create; absent: that of their team
        command_id: makes sending again safe, see *Sending again*; of the client's own choice
        """
        params: dict[str, Any] = {
            'world': world,
            'agents': agents,
            'planner': planner,
            'command_id': command_id,
        }
        return cast(AgentPlanner, await self.call('agent.planner', params))

    async def agent_set(
        self, *,
        world: int,
        agents: Sequence[int],
        class_: str | None = None,
        speed: float | None = None,
        frozen: bool | None = None,
        tag: bytes | None = None,
        tag_shown: bool | None = None,
        sight: int | None = None,
        team: int | None = None,
        command_id: int | None = None,
    ) -> AgentSet:
        """Changes what living agents are, all of them or, on an error, none. Their orders stay;
        whose class changes searches again; whose team changes has no orders any more. At least
        one of the entries behind the ids is there. Lowest role: admin.

        world: number of the world
        agents: ids
        class_: movement class, in which each of them fits where it stands; its planner stays, and
            must be able to work for the class
        speed: cells per second of game time, as in agent.spawn; 0: one step a tick. In a group with
            common_speed it counts from the next order on
        frozen: it does not move and nobody pushes it; its order waits, and continues when it is
            false again
        tag: the game's own, which the server keeps and does not look into; views tell it to the
            agent's team and to those who see everything; empty: none any more
        tag_shown: other teams that see the agent are told its tag as well
        sight: cells that it sees, by the shape and line of sight of the world's rules; 0: the
            world's sense_radius
        team: whose it is from now on: the same agent with the same id, known to its new team's
            players by a new name. Its orders end as cancelled; it knows what its new team knows,
            and that learns nothing of what the old one knew
        command_id: makes sending again safe, see *Sending again*; of the client's own choice
        """
        params: dict[str, Any] = {
            'world': world,
            'agents': agents,
            'class': class_,
            'speed': speed,
            'frozen': frozen,
            'tag': tag,
            'tag_shown': tag_shown,
            'sight': sight,
            'team': team,
            'command_id': command_id,
        }
        return cast(AgentSet, await self.call('agent.set', params))

    async def agent_place(
        self, *,
        world: int,
        agents: Sequence[int],
        cells: Sequence[int],
        place: str | None = None,
        command_id: int | None = None,
    ) -> AgentPlace:
        """Puts living agents elsewhere, all of them or, on an error, none. Their orders stay and
        continue from there. Lowest role: admin.

        world: number of the world
        agents: ids, each once
        cells: x, y of each agent, of its north-west cell when it is larger than one; one may go
            where another of them stood
        place: exact: on the cells or nowhere; nearest: on the nearest cells that can hold them;
            exact
        command_id: makes sending again safe, see *Sending again*; of the client's own choice
        """
        params: dict[str, Any] = {
            'world': world,
            'agents': agents,
            'cells': cells,
            'place': place,
            'command_id': command_id,
        }
        return cast(AgentPlace, await self.call('agent.place', params))

    async def agent_board(
        self, *,
        world: int,
        agents: Sequence[int],
        carrier: int,
        radius: int | None = None,
        command_id: int | None = None,
    ) -> AgentBoard:
        """One agent carries others from now on, all of them or, on an error, none: see
        *Transports*. Their orders end as boarded. carried when the carrier is carried itself,
        or one of them carries others; too_far; limit when it would carry more than 64. Lowest
        role: admin.

        world: number of the world
        agents: ids, each once, all of the carrier's team
        carrier: id of the agent that carries them; no_target when there is none, or of another team
        radius: cells from the carrier's to the nearest cell of each, also diagonally; 1
        command_id: makes sending again safe, see *Sending again*; of the client's own choice
        """
        params: dict[str, Any] = {
            'world': world,
            'agents': agents,
            'carrier': carrier,
            'radius': radius,
            'command_id': command_id,
        }
        return cast(AgentBoard, await self.call('agent.board', params))

    async def agent_unboard(
        self, *,
        world: int,
        agents: Sequence[int] | None = None,
        carrier: int | None = None,
        radius: int | None = None,
        command_id: int | None = None,
    ) -> AgentUnboard:
        """Those who are carried come out around their carrier, all of them or, on an error, none:
        see *Transports*. not_carried; occupied_cell when there are too few free cells. Lowest
        role: admin.

        world: number of the world
        agents: ids, each once
        carrier: in place of agents: all that this agent carries, in the order in which they boarded
        radius: cells from the carrier's at most; 1: beside it
        command_id: makes sending again safe, see *Sending again*; of the client's own choice
        """
        params: dict[str, Any] = {
            'world': world,
            'agents': agents,
            'carrier': carrier,
            'radius': radius,
            'command_id': command_id,
        }
        return cast(AgentUnboard, await self.call('agent.unboard', params))

    async def agent_report(
        self, *,
        world: int,
        agents: Sequence[int],
        cells_max: int | None = None,
    ) -> AgentReport:
        """Tells what units are doing: their orders, the next cells of their paths, and why they
        wait. A player's own; those that are not there (any more) are left out. What it costs is
        counted as path queries, one for 16 units. Lowest role: player.

        world: number of the world
        agents: ids
        cells_max: cells of each path; 32
        """
        params: dict[str, Any] = {
            'world': world,
            'agents': agents,
            'cells_max': cells_max,
        }
        return cast(AgentReport, await self.call('agent.report', params))

    async def terrain_set(
        self, *,
        world: int,
        set: str,
        cost: int | None = None,
        cells: Sequence[int] | None = None,
        rects: Sequence[int] | None = None,
        command_id: int | None = None,
    ) -> TerrainSet:
        """Edits cells and rectangles of the true map: all of them or, on an error, none. Lowest
        role: admin.

        world: number of the world
        set: blocked, free (cost 1), cost (keeps the terrain), or a terrain: ground, out_of_bounds,
            trees, swamp, water, wall
        cost: with set = cost or a terrain: times the cost of open floor; a terrain keeps the cost
        cells: x, y of each cell
        rects: x, y, width, height of each rectangle
        command_id: makes sending again safe, see *Sending again*; of the client's own choice
        """
        params: dict[str, Any] = {
            'world': world,
            'set': set,
            'cost': cost,
            'cells': cells,
            'rects': rects,
            'command_id': command_id,
        }
        return cast(TerrainSet, await self.call('terrain.set', params))

    async def building_place(
        self, *,
        world: int,
        rect: Sequence[int],
        team: int | None = None,
        on_units: str | None = None,
        command_id: int | None = None,
    ) -> BuildingPlace:
        """Places a rectangle that no unit enters. Its owner knows at once; other teams see it when
        they look, and believe in it until they see that it is gone. Players may, where the
        world lets them (players_build), on free ground that their team sees. Lowest role:
        player.

        world: number of the world
        team: owner; 0 or absent: nobody, or a player's own team
        rect: x, y, width, height; at most 4096 cells, a player's 64, none of another building
        on_units: units on the site: push them to the nearest free cells, or refuse; push, a
            player's always refuse
        command_id: makes sending again safe, see *Sending again*; of the client's own choice
        """
        params: dict[str, Any] = {
            'world': world,
            'team': team,
            'rect': rect,
            'on_units': on_units,
            'command_id': command_id,
        }
        return cast(BuildingPlace, await self.call('building.place', params))

    async def building_remove(
        self, *,
        world: int,
        building: int,
        command_id: int | None = None,
    ) -> BuildingRemove:
        """Removes a building; the terrain under it is as it was before. Players may as with
        building.place: their team's own, while it sees all of it. Lowest role: player.

        world: number of the world
        building: number of the building
        command_id: makes sending again safe, see *Sending again*; of the client's own choice
        """
        params: dict[str, Any] = {
            'world': world,
            'building': building,
            'command_id': command_id,
        }
        return cast(BuildingRemove, await self.call('building.remove', params))

    async def path_query(
        self, *,
        world: int,
        team: int | None = None,
        class_: str | None = None,
        from_: Sequence[int] | None = None,
        to: Sequence[int] | None = None,
        pairs: Sequence[int] | None = None,
        expansions_max: int | None = None,
        planner: str | None = None,
    ) -> PathQuery:
        """Finds a shortest path, or many, on what a team knows, or on the true map (observer and
        above). Lowest role: player.

        world: number of the world
        team: team, for a player its own; 0 or absent: a player's own, for others the true map
        class_: movement class; the world's first
        from_: x, y
        to: x, y
        pairs: instead of from and to: x, y, x, y of each path
        expansions_max: give up after so many expansions, each
        planner: a planner that searches forward, such as astar:heuristic=landmarks; absent: jump
            points where they apply, else A*
        """
        params: dict[str, Any] = {
            'world': world,
            'team': team,
            'class': class_,
            'from': from_,
            'to': to,
            'pairs': pairs,
            'expansions_max': expansions_max,
            'planner': planner,
        }
        return cast(PathQuery, await self.call('path.query', params))

    async def path_distance(
        self, *,
        world: int,
        team: int | None = None,
        class_: str | None = None,
        from_: Sequence[int] | None = None,
        to: Sequence[int] | None = None,
        pairs: Sequence[int] | None = None,
        expansions_max: int | None = None,
    ) -> PathDistance:
        """How far it is along a shortest path, or along many. Lowest role: player.

        world: number of the world
        team: team, for a player its own; 0 or absent: a player's own, for others the true map
        class_: movement class; the world's first
        from_: x, y
        to: x, y
        pairs: instead of from and to: x, y, x, y of each path
        expansions_max: give up after so many expansions, each
        """
        params: dict[str, Any] = {
            'world': world,
            'team': team,
            'class': class_,
            'from': from_,
            'to': to,
            'pairs': pairs,
            'expansions_max': expansions_max,
        }
        return cast(PathDistance, await self.call('path.distance', params))

    async def path_reachable(
        self, *,
        world: int,
        team: int | None = None,
        class_: str | None = None,
        from_: Sequence[int] | None = None,
        to: Sequence[int] | None = None,
        pairs: Sequence[int] | None = None,
    ) -> PathReachable:
        """Whether there is a path; takes the same short time however far it is. Lowest role:
        player.

        world: number of the world
        team: team, for a player its own; 0 or absent: a player's own, for others the true map
        class_: movement class; the world's first
        from_: x, y
        to: x, y
        pairs: instead of from and to: x, y, x, y of each question
        """
        params: dict[str, Any] = {
            'world': world,
            'team': team,
            'class': class_,
            'from': from_,
            'to': to,
            'pairs': pairs,
        }
        return cast(PathReachable, await self.call('path.reachable', params))

    async def path_nearest(
        self, *,
        world: int,
        from_: Sequence[int],
        goals: Sequence[int],
        team: int | None = None,
        class_: str | None = None,
        expansions_max: int | None = None,
    ) -> PathNearest:
        """Finds the nearest of several goals by the cost of the path, and the path, in one search.
        Lowest role: player.

        world: number of the world
        team: team, for a player its own; 0 or absent: a player's own, for others the true map
        class_: movement class; the world's first
        from_: x, y
        goals: x, y of each goal
        expansions_max: give up after so many expansions, each
        """
        params: dict[str, Any] = {
            'world': world,
            'team': team,
            'class': class_,
            'from': from_,
            'goals': goals,
            'expansions_max': expansions_max,
        }
        return cast(PathNearest, await self.call('path.nearest', params))

    async def path_field(
        self, *,
        world: int,
        goal: Sequence[int],
        rect: Sequence[int],
        team: int | None = None,
        class_: str | None = None,
        expansions_max: int | None = None,
    ) -> PathField:
        """What it costs to come to a goal from each cell of a rectangle: for flow fields. Lowest
        role: player.

        world: number of the world
        team: team, for a player its own; 0 or absent: a player's own, for others the true map
        class_: movement class; the world's first
        goal: x, y; inside the rectangle or not
        rect: x, y, width, height; at most 16384 cells
        expansions_max: give up after so many expansions, each
        """
        params: dict[str, Any] = {
            'world': world,
            'team': team,
            'class': class_,
            'goal': goal,
            'rect': rect,
            'expansions_max': expansions_max,
        }
        return cast(PathField, await self.call('path.field', params))

    async def subscribe(
        self, *,
        world: int,
        team: int | None = None,
        rect: Sequence[int] | None = None,
        every: int | None = None,
        follow: int | None = None,
        stream: int | None = None,
        since: int | None = None,
        encoding: str | None = None,
        sight: bool | None = None,
        motion: bool | None = None,
    ) -> Subscribe:
        """Streams a view: a keyframe at once, then a delta each tick in which something changed.
        Lowest role: player.

        world: number of the world
        team: team whose view it is, for a player its own; 0 or absent: a player's own, for others
            everything
        rect: x, y, width, height: agents and cells inside only
        every: at most one delta in so many ticks; 1
        follow: agent that the rectangle (33 x 33 if not given) is moved after, while it is in view
        stream: of an earlier subscription to the same view, perhaps of another session, that showed
            the same rectangle last
        since: with stream: the last tick that its client was sent
        encoding: of deltas: plain, or dense (see *Dense deltas*); plain
        sight: also tell which cells are visible, see *Three states of fog*; false
        motion: also `motion`: heading, speed and waypoints of agents (see *Motion*); false
        """
        params: dict[str, Any] = {
            'world': world,
            'team': team,
            'rect': rect,
            'every': every,
            'follow': follow,
            'stream': stream,
            'since': since,
            'encoding': encoding,
            'sight': sight,
            'motion': motion,
        }
        return cast(Subscribe, await self.call('subscribe', params))

    async def subscription_move(
        self, *,
        subscription: int,
        rect: Sequence[int],
    ) -> None:
        """Moves a view to another rectangle. What it uncovers comes in a delta with `rect`, of a
        large one in a keyframe; both may come before the answer. A view that followed an agent
        stays where it is put. Lowest role: player.

        subscription: its number
        rect: x, y, width, height
        """
        params: dict[str, Any] = {
            'subscription': subscription,
            'rect': rect,
        }
        await self.call('subscription.move', params)

    async def unsubscribe(
        self, *,
        subscription: int,
    ) -> None:
        """Ends a subscription. Lowest role: player.

        subscription: its number
        """
        params: dict[str, Any] = {
            'subscription': subscription,
        }
        await self.call('unsubscribe', params)

    async def stats(
        self, *,
        world: int | None = None,
        reset: bool | None = None,
        teams: bool | None = None,
    ) -> Stats:
        """Counters of the server, and of one world when it is named. Lowest role: observer.

        world: number of the world
        reset: admin: the world's tick_ms, overrun_ms, stages_ms and order_to_first_move_ticks start
            over after this answer; false
        teams: with a world: also what each team may search; false
        """
        params: dict[str, Any] = {
            'world': world,
            'reset': reset,
            'teams': teams,
        }
        return cast(Stats, await self.call('stats', params))

    async def debug_inspect(
        self, *,
        world: int,
        agent: int,
        rect: Sequence[int] | None = None,
        channels: str | None = None,
    ) -> DebugInspect:
        """Everything about one agent: state, order, planner, search, path. carried while another
        one carries it; agent.report tells which. Lowest role: debug.

        world: number of the world
        agent: id
        rect: x, y, width, height: also list the search's cells in here, at most 16384
        channels: what is sent, words with spaces between them: report, path, search, details (the
            last two with rect); report path search
        """
        params: dict[str, Any] = {
            'world': world,
            'agent': agent,
            'rect': rect,
            'channels': channels,
        }
        return cast(DebugInspect, await self.call('debug.inspect', params))

    async def debug_subscribe(
        self, *,
        world: int,
        agent: int,
        rect: Sequence[int] | None = None,
        channels: str | None = None,
    ) -> DebugSubscribe:
        """Inspects an agent after every tick: notification debug. It ends with the agent, or when
        another one carries it, in a replay not; at most 64 in a world. Lowest role: debug.

        world: number of the world
        agent: id
        rect: x, y, width, height: also list the search's cells in here, at most 16384
        channels: what is sent, words with spaces between them: report, path, search, details (the
            last two with rect); report path search
        """
        params: dict[str, Any] = {
            'world': world,
            'agent': agent,
            'rect': rect,
            'channels': channels,
        }
        return cast(DebugSubscribe, await self.call('debug.subscribe', params))

    async def debug_unsubscribe(
        self, *,
        world: int,
        subscription: int,
    ) -> None:
        """Ends what debug.subscribe began. Lowest role: debug.

        world: number of the world
        subscription: its number
        """
        params: dict[str, Any] = {
            'world': world,
            'subscription': subscription,
        }
        await self.call('debug.unsubscribe', params)

    async def debug_explain(
        self, *,
        world: int,
        agent: int,
    ) -> DebugExplain:
        """Why an agent does what it does: what holds it up, its orders and how they ended, why its
        search went on. carried as in debug.inspect. As far back as the last 65536 events of the
        world. Lowest role: debug.

        world: number of the world
        agent: id
        """
        params: dict[str, Any] = {
            'world': world,
            'agent': agent,
        }
        return cast(DebugExplain, await self.call('debug.explain', params))

    async def debug_compare(
        self, *,
        world: int,
        agent: int,
        planners: str,
        goal: Sequence[int] | None = None,
        expansions_max: int | None = None,
        rect: Sequence[int] | None = None,
    ) -> DebugCompare:
        """Asks several planners for the path from where an agent stands to its goal, on what its
        team knows, outside of ticks; the agent continues with its own. Lowest role: debug.

        world: number of the world
        agent: id
        planners: 1 to 8 planners as in world.create, with spaces between them
        goal: x, y; that of its order
        expansions_max: give up after so many expansions, each
        rect: x, y, width, height: also list the searches' cells in here, at most 16384 in all
        """
        params: dict[str, Any] = {
            'world': world,
            'agent': agent,
            'planners': planners,
            'goal': goal,
            'expansions_max': expansions_max,
            'rect': rect,
        }
        return cast(DebugCompare, await self.call('debug.compare', params))

    async def debug_top(
        self, *,
        world: int,
        by: str | None = None,
        rows: int | None = None,
    ) -> DebugTop:
        """Where the work goes: the most expensive agents, planners, teams or edits. Lowest role:
        debug.

        world: number of the world
        by: agents, planners, teams or edits; agents
        rows: at most so many; 10
        """
        params: dict[str, Any] = {
            'world': world,
            'by': by,
            'rows': rows,
        }
        return cast(DebugTop, await self.call('debug.top', params))

    async def debug_jams(
        self, *,
        world: int,
    ) -> DebugJams:
        """Who is stuck, where a cell holds one unit, and waits for whom: who wanted to continue and
        did not get away for 128 ticks; looked for every 128 ticks. Lowest role: debug.

        world: number of the world
        """
        params: dict[str, Any] = {
            'world': world,
        }
        return cast(DebugJams, await self.call('debug.jams', params))

    async def world_save(
        self, *,
        world: int,
    ) -> WorldSave:
        """Saves a world, between two ticks, as one file that save.download gives and world.load
        takes. Searches that are under way begin again. The file is kept for this session until
        its end has been downloaded or the session saves again. Lowest role: admin.

        world: number of the world
        """
        params: dict[str, Any] = {
            'world': world,
        }
        return cast(WorldSave, await self.call('world.save', params))

    async def save_download(
        self, *,
        save: int,
        offset: int,
        size: int | None = None,
    ) -> SaveDownload:
        """Gives a piece of a saved world. Lowest role: admin.

        save: number of the file, from world.save of this session
        offset: where the piece begins
        size: bytes of it; 262144
        """
        params: dict[str, Any] = {
            'save': save,
            'offset': offset,
            'size': size,
        }
        return cast(SaveDownload, await self.call('save.download', params))

    async def world_load(
        self, *,
        upload: int,
        name: str | None = None,
        tick_hz: float | None = None,
        budget_ms: float | None = None,
        overload: str | None = None,
        paused: bool | None = None,
        number: int | None = None,
    ) -> WorldLoad:
        """Makes a world from a saved one, which continues as if it had never stopped. Nobody is
        subscribed to it, and tokens of players are not saved. Also takes what `fogmarch replay
        seek --save` writes, which has neither name nor pace. Lowest role: admin.

        upload: a finished map.upload
        name: unique among worlds; letters, digits, . _ -; as saved
        tick_hz: ticks per second; as saved
        budget_ms: milliseconds a tick may take; as saved
        overload: slip, skip or degrade; as saved
        paused: begin paused; as saved
        number: in a cluster: the number that it had before etcd was lost, where none has it now;
            the next one
        """
        params: dict[str, Any] = {
            'upload': upload,
            'name': name,
            'tick_hz': tick_hz,
            'budget_ms': budget_ms,
            'overload': overload,
            'paused': paused,
            'number': number,
        }
        return cast(WorldLoad, await self.call('world.load', params))

    async def replay_list(
        self,
    ) -> ReplayList:
        """Lists the journals that replay.open takes, and the replays there are. Lowest role: debug.
        """
        params: dict[str, Any] = {
        }
        return cast(ReplayList, await self.call('replay.list', params))

    async def replay_open(
        self, *,
        file: str,
    ) -> ReplayOpen:
        """Opens a journal as a world of its own that cannot be changed, at its first tick. It can
        be subscribed to, inspected and asked for paths like another one, is not in world.list,
        and ends with replay.close or with this session. Lowest role: debug.

        file: name of a file in journal_dir, as in replay.list
        """
        params: dict[str, Any] = {
            'file': file,
        }
        return cast(ReplayOpen, await self.call('replay.open', params))

    async def replay_seek(
        self, *,
        world: int,
        tick: int,
    ) -> ReplaySeek:
        """Goes to a tick, forwards or backwards, and continues playing from there if it plays.
        Views get a keyframe before the answer. A later seek takes the place of one under way;
        both are answered where that ends. Lowest role: debug.

        world: number of the replay
        tick: ticks completed
        """
        params: dict[str, Any] = {
            'world': world,
            'tick': tick,
        }
        return cast(ReplaySeek, await self.call('replay.seek', params))

    async def replay_play(
        self, *,
        world: int,
        tick_hz: float | None = None,
    ) -> ReplayPlay:
        """Continues tick by tick until replay.pause or the end of the journal. The answer is given
        before the first. Lowest role: debug.

        world: number of the replay
        tick_hz: ticks per second; as before, at first those of the world
        """
        params: dict[str, Any] = {
            'world': world,
            'tick_hz': tick_hz,
        }
        return cast(ReplayPlay, await self.call('replay.play', params))

    async def replay_pause(
        self, *,
        world: int,
    ) -> ReplayPause:
        """Stays where it is. Lowest role: debug.

        world: number of the replay
        """
        params: dict[str, Any] = {
            'world': world,
        }
        return cast(ReplayPause, await self.call('replay.pause', params))

    async def replay_close(
        self, *,
        world: int,
    ) -> None:
        """Ends a replay. Its subscriptions end. Lowest role: debug.

        world: number of the replay
        """
        params: dict[str, Any] = {
            'world': world,
        }
        await self.call('replay.close', params)

    async def world_locate(
        self, *,
        world: int | None = None,
        name: str | None = None,
    ) -> WorldLocate:
        """Which node of a cluster has a world; any node knows. not_ready: its node is gone, and the
        next one is about to take it over. Lowest role: player.

        world: number of the world
        name: or its name
        """
        params: dict[str, Any] = {
            'world': world,
            'name': name,
        }
        return cast(WorldLocate, await self.call('world.locate', params))

    async def cluster_status(
        self,
    ) -> ClusterStatus:
        """The cluster as this node sees it. Lowest role: admin.
        """
        params: dict[str, Any] = {
        }
        return cast(ClusterStatus, await self.call('cluster.status', params))

    async def token_list(
        self,
    ) -> TokenList:
        """Lists the tokens that token.create made and that are good, without the secrets. Lowest
        role: admin.
        """
        params: dict[str, Any] = {
        }
        return cast(TokenList, await self.call('token.list', params))

    async def cluster_move(
        self, *,
        world: int,
        node: str | None = None,
    ) -> ClusterMove:
        """Moves a world to another node, where it goes on with its searches, orders and streams.
        Answered when the move has begun; cluster.status and world.locate say when it is there.
        Until then it ticks on where it is. not_ready: it has no node now, is on its way
        already, or there is no other node that takes worlds. Lowest role: admin.

        world: number of the world
        node: name of the node; the one with the most capacity left. That it is on already: nothing
            happens
        """
        params: dict[str, Any] = {
            'world': world,
            'node': node,
        }
        return cast(ClusterMove, await self.call('cluster.move', params))

    async def cluster_drain(
        self, *,
        node: str | None = None,
    ) -> ClusterDrain:
        """A node gives its worlds to the others, two at a time, and takes no more until
        cluster.undrain, or until it is started again. Answered when it has begun. Lowest role:
        admin.

        node: name of the node; the one that is asked
        """
        params: dict[str, Any] = {
            'node': node,
        }
        return cast(ClusterDrain, await self.call('cluster.drain', params))

    async def cluster_undrain(
        self, *,
        node: str | None = None,
    ) -> ClusterUndrain:
        """A node takes worlds again. Those that are on their way to other nodes still go there, the
        others stay; none comes back by itself. Answered at once; cluster.status says when it
        holds. Lowest role: admin.

        node: name of the node; the one that is asked
        """
        params: dict[str, Any] = {
            'node': node,
        }
        return cast(ClusterUndrain, await self.call('cluster.undrain', params))

    async def journal_follow(
        self, *,
        epoch: int,
        data: bytes | None = None,
    ) -> JournalFollow:
        """For standbys: from now on this session gets `shipment` notifications with all that is in
        the server's journals and comes to them, once it is on the server's disk. busy: another
        standby follows already. bad_value: the standby's epoch is newer, so this server has
        been replaced; if they share a ledger, it ends. Lowest role: admin.

        epoch: of the standby
        data: what it has already, to go on from there: first, perhaps, 0, 1 to follow or 2 to say
            that it has taken over (8 bytes each), and 16 bytes that name its ledger; then of each
            world number, position (8 bytes each, lowest first) and link (16 bytes) of the last row
        """
        params: dict[str, Any] = {
            'epoch': epoch,
            'data': data,
        }
        return cast(JournalFollow, await self.call('journal.follow', params))

    async def journal_have(
        self, *,
        number: int,
    ) -> None:
        """For standbys: all shipments up to this one are on its disk. Lowest role: admin.

        number: of the shipment
        """
        params: dict[str, Any] = {
            'number': number,
        }
        await self.call('journal.have', params)

    async def standby_status(
        self,
    ) -> StandbyStatus:
        """Whether a server has a standby, or is one, and how far that is. Lowest role: admin.
        """
        params: dict[str, Any] = {
        }
        return cast(StandbyStatus, await self.call('standby.status', params))

    async def standby_promote(
        self,
    ) -> StandbyPromote:
        """A standby stops following and goes on with the worlds where its copy ends. Answered when
        they tick. The server that it followed must be gone; if it comes back, this one tells
        it, and it ends. bad_value: this server is no standby. Lowest role: admin.
        """
        params: dict[str, Any] = {
        }
        return cast(StandbyPromote, await self.call('standby.promote', params))

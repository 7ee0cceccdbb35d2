// Methods.cs: made by generate.py from proto/protocol.json. Change proto/protocol.def instead.

using System.Collections.Generic;

namespace Fogmarch
{
    public sealed partial class Client
    {
        // Methods with a command_id: sent again, they are carried out once.
        private static readonly HashSet<string> Commands = new HashSet<string>
        {
            "team.create",
            "team.cost",
            "agent.spawn",
            "agent.remove",
            "agent.order",
            "agent.cancel",
            "agent.resume",
            "agent.planner",
            "agent.set",
            "agent.place",
            "agent.board",
            "agent.unboard",
            "terrain.set",
            "building.place",
            "building.remove",
        };

        /// <summary>Answers at once from the event loop. Lowest role: none.</summary>
        /// <param name="time">echoed</param>
        public Request Ping(long? time = null)
        {
            return Begin("ping")
                .Set("time", time);
        }

        /// <summary>Makes a secret that hello takes, for instance for a player's seat. It is shown once and
        /// kept as a hash; it ends with its world, with token.revoke, with its time, or with a server that
        /// keeps no journals. Lowest role: admin.</summary>
        /// <param name="role">player, observer, debug or admin</param>
        /// <param name="world">player: number of the world</param>
        /// <param name="team">player: team</param>
        /// <param name="expiresS">seconds after which it ends, with its sessions; absent: never</param>
        public Request TokenCreate(string role, long? world = null, long? team = null, long? expiresS = null)
        {
            return Begin("token.create")
                .Set("role", role)
                .Set("world", world)
                .Set("team", team)
                .Set("expires_s", expiresS);
        }

        /// <summary>Ends a token that token.create made, and the sessions that were opened with it. Lowest
        /// role: admin.</summary>
        /// <param name="number">its number</param>
        public Request TokenRevoke(long number)
        {
            return Begin("token.revoke")
                .Set("number", number);
        }

        /// <summary>Sends a file in pieces, in order: a .map file for world.create, a saved world for
        /// world.load. An upload belongs to its session. Lowest role: admin.</summary>
        /// <param name="offset">where this piece belongs: bytes sent so far</param>
        /// <param name="data">the piece</param>
        /// <param name="upload">upload to continue with; absent: begin one</param>
        /// <param name="total">bytes of the whole file; with the first piece</param>
        public Request MapUpload(long offset, byte[] data, long? upload = null, long? total = null)
        {
            return Begin("map.upload")
                .Set("upload", upload)
                .Set("total", total)
                .Set("offset", offset)
                .Set("data", data);
        }

        /// <summary>Makes a world from a map (map or upload) or from a generator. Lowest role:
        /// admin.</summary>
        /// <param name="name">unique among worlds; letters, digits, . _ -</param>
        /// <param name="map">a whole .map file</param>
        /// <param name="upload">a finished map.upload</param>
        /// <param name="generator">open, maze, rooms, random or skirmish</param>
        /// <param name="width">generator: cells; 512</param>
        /// <param name="height">generator: cells; 512</param>
        /// <param name="seed">generator: seed; 1</param>
        /// <param name="players">skirmish: players; 4</param>
        /// <param name="wallsRemoved">maze: blocked cells opened; 750</param>
        /// <param name="roomSide">rooms: cells between walls; 16</param>
        /// <param name="blockedPermille">random: blocked cells in 1/1000; 300</param>
        /// <param name="neighbours">4 or 8; 8</param>
        /// <param name="cornerCutting">a diagonal step needs one free side cell, not two; false</param>
        /// <param name="stepCosts">1, 10/14 or 70/99; 1 with 4 neighbours, else 10/14</param>
        /// <param name="senseRadius">cells; 5</param>
        /// <param name="senseShape">square, diamond or disc; diamond with 4 neighbours, else square</param>
        /// <param name="lineOfSight">blocked cells hide what lies behind; false</param>
        /// <param name="omniscient">teams know the whole map from the start; false</param>
        /// <param name="occupancy">none: any number of agents in a cell; exclusive: one, as fogmarch create
        /// asks for; none</param>
        /// <param name="pushedStay">exclusive: an agent without an order that is pushed off its cell stays
        /// where it came to stand, and does not go back; false</param>
        /// <param name="blockedTicks">exclusive: after so many ticks an order ends, as crowded or
        /// unreachable, whose way agents of other teams block that stand still; 0: not for that reason, but
        /// after 1,800 ticks, also where its own team blocks it, or 116 where agents that stand, and may not
        /// be pushed, leave no way, and an agent that another team has blocked for 4 ticks, a large one for
        /// 20, lets it push; 0</param>
        /// <param name="planner">planner of agents that are not given another; from the config</param>
        /// <param name="classes">movement classes, at most 8, as in
        /// ground;boat:water=1;tank:size=3,ground=1,swamp=2 (name, size in cells 1..4, cost of each terrain
        /// that can be entered); ground</param>
        /// <param name="landmarks">for planners with heuristic=landmarks: landmarks of each team's map;
        /// 8</param>
        /// <param name="landmarkPlacement">farthest, random, avoid or past-the-goal; farthest</param>
        /// <param name="landmarksMove">now and then the least used landmark moves to the goal of a recent
        /// order; false</param>
        /// <param name="stale">refuse or allow: whether landmarks and clusters that a cheaper step has
        /// outdated are used until they are measured again, so that paths may be longer; refuse</param>
        /// <param name="agentsMax">agents; 65536</param>
        /// <param name="teamsMax">teams; 4096</param>
        /// <param name="savedTicks">how many ticks' worth of its share of the search a team may save;
        /// 8</param>
        /// <param name="playersBuild">how many buildings the players of a team may have standing; 0: they do
        /// not build</param>
        /// <param name="tickHz">ticks per second; from the config</param>
        /// <param name="budgetMs">milliseconds a tick may take; from the config</param>
        /// <param name="overload">slip, skip or degrade; from the config</param>
        /// <param name="paused">begin paused; false</param>
        public Request WorldCreate(string name, byte[] map = null, long? upload = null, string generator =
            null, long? width = null, long? height = null, long? seed = null, long? players = null, long?
            wallsRemoved = null, long? roomSide = null, long? blockedPermille = null, long? neighbours = null,
            bool? cornerCutting = null, string stepCosts = null, long? senseRadius = null, string senseShape =
            null, bool? lineOfSight = null, bool? omniscient = null, string occupancy = null, bool? pushedStay
            = null, long? blockedTicks = null, string planner = null, string classes = null, long? landmarks =
            null, string landmarkPlacement = null, bool? landmarksMove = null, string stale = null, long?
            agentsMax = null, long? teamsMax = null, long? savedTicks = null, long? playersBuild = null,
            double? tickHz = null, double? budgetMs = null, string overload = null, bool? paused = null)
        {
            return Begin("world.create")
                .Set("name", name)
                .Set("map", map)
                .Set("upload", upload)
                .Set("generator", generator)
                .Set("width", width)
                .Set("height", height)
                .Set("seed", seed)
                .Set("players", players)
                .Set("walls_removed", wallsRemoved)
                .Set("room_side", roomSide)
                .Set("blocked_permille", blockedPermille)
                .Set("neighbours", neighbours)
                .Set("corner_cutting", cornerCutting)
                .Set("step_costs", stepCosts)
                .Set("sense_radius", senseRadius)
                .Set("sense_shape", senseShape)
                .Set("line_of_sight", lineOfSight)
                .Set("omniscient", omniscient)
                .Set("occupancy", occupancy)
                .Set("pushed_stay", pushedStay)
                .Set("blocked_ticks", blockedTicks)
                .Set("planner", planner)
                .Set("classes", classes)
                .Set("landmarks", landmarks)
                .Set("landmark_placement", landmarkPlacement)
                .Set("landmarks_move", landmarksMove)
                .Set("stale", stale)
                .Set("agents_max", agentsMax)
                .Set("teams_max", teamsMax)
                .Set("saved_ticks", savedTicks)
                .Set("players_build", playersBuild)
                .Set("tick_hz", tickHz)
                .Set("budget_ms", budgetMs)
                .Set("overload", overload)
                .Set("paused", paused);
        }

        /// <summary>Lists the worlds; for a player that of its seat. Lowest role: player.</summary>
        public Request WorldList()
        {
            return Begin("world.list");
        }

        /// <summary>Describes one world. Lowest role: player.</summary>
        /// <param name="world">number of the world</param>
        /// <param name="name">or its name</param>
        public Request WorldInfo(long? world = null, string name = null)
        {
            return Begin("world.info")
                .Set("world", world)
                .Set("name", name);
        }

        /// <summary>Ends a world and gives its memory back. Its subscriptions end. In a cluster that happens,
        /// and is answered, once etcd has removed the world; moved: another node had it first. Lowest role:
        /// admin.</summary>
        /// <param name="world">number of the world</param>
        public Request WorldDestroy(long world)
        {
            return Begin("world.destroy")
                .Set("world", world);
        }

        /// <summary>Stops ticking. Commands are still accepted and done. Lowest role: admin.</summary>
        /// <param name="world">number of the world</param>
        public Request WorldPause(long world)
        {
            return Begin("world.pause")
                .Set("world", world);
        }

        /// <summary>Continues ticking; tick_hz and budget_ms may be changed on the way. Lowest role:
        /// admin.</summary>
        /// <param name="world">number of the world</param>
        /// <param name="tickHz">ticks per second</param>
        /// <param name="budgetMs">milliseconds a tick may take</param>
        public Request WorldResume(long world, double? tickHz = null, double? budgetMs = null)
        {
            return Begin("world.resume")
                .Set("world", world)
                .Set("tick_hz", tickHz)
                .Set("budget_ms", budgetMs);
        }

        /// <summary>Runs ticks of a paused world at once; answers when they are done. When the world goes to
        /// another node meanwhile, answers with the ticks that were done before. Lowest role:
        /// admin.</summary>
        /// <param name="world">number of the world</param>
        /// <param name="ticks">how many; 1</param>
        public Request WorldStep(long world, long? ticks = null)
        {
            return Begin("world.step")
                .Set("world", world)
                .Set("ticks", ticks);
        }

        /// <summary>Makes a team, whose agents share what they see. Lowest role: admin.</summary>
        /// <param name="world">number of the world</param>
        /// <param name="planner">planner of its agents; the world's</param>
        /// <param name="weight">of its share of the search, among teams that have agents; 1</param>
        /// <param name="commandId">makes sending again safe, see *Sending again*; of the client's own
        /// choice</param>
        public Request TeamCreate(long world, string planner = null, long? weight = null, long? commandId =
            null)
        {
            return Begin("team.create")
                .Set("world", world)
                .Set("planner", planner)
                .Set("weight", weight)
                .Set("command_id", commandId);
        }

        /// <summary>Adds to what cells cost one team, seen or not: its paths keep away from them where
        /// another way is cheaper, as from the reach of a tower. Nothing is blocked by it, and no other team
        /// has to do with it. What was added to a cell before is replaced. At most 65,536 cells of a team
        /// between two ticks, else limit; the searches that they touch are mended within the tick's budget.
        /// All cells or, on an error, none. Lowest role: admin.</summary>
        /// <param name="world">number of the world</param>
        /// <param name="team">whose paths heed it</param>
        /// <param name="cost">what is added to the cost of a cell, which is 1 on open floor; 0: nothing any
        /// more. A cell costs at most 250 in all</param>
        /// <param name="cells">x, y of each cell</param>
        /// <param name="rects">x, y, width, height of each rectangle</param>
        /// <param name="commandId">makes sending again safe, see *Sending again*; of the client's own
        /// choice</param>
        public Request TeamCost(long world, long team, long cost, IReadOnlyList<long> cells = null,
            IReadOnlyList<long> rects = null, long? commandId = null)
        {
            return Begin("team.cost")
                .Set("world", world)
                .Set("team", team)
                .Set("cost", cost)
                .Set("cells", cells)
                .Set("rects", rects)
                .Set("command_id", commandId);
        }

        /// <summary>Puts agents on free cells: all of them or, on an error, none. Lowest role:
        /// admin.</summary>
        /// <param name="world">number of the world</param>
        /// <param name="team">team</param>
        /// <param name="cells">x, y of each agent, of its north-west cell when it is larger than one</param>
        /// <param name="planner">planner; the team's</param>
        /// <param name="class">movement class; the world's first</param>
        /// <param name="speed">cells per second of game time (ticks at the tick_hz that the world was made
        /// with), at most one step a tick; absent: one step a tick, straight or diagonal</param>
        /// <param name="place">exact: on the cells or nowhere; nearest: on the nearest cells that can hold
        /// them; exact</param>
        /// <param name="commandId">makes sending again safe, see *Sending again*; of the client's own
        /// choice</param>
        public Request AgentSpawn(long world, long team, IReadOnlyList<long> cells, string planner = null,
            string @class = null, double? speed = null, string place = null, long? commandId = null)
        {
            return Begin("agent.spawn")
                .Set("world", world)
                .Set("team", team)
                .Set("cells", cells)
                .Set("planner", planner)
                .Set("class", @class)
                .Set("speed", speed)
                .Set("place", place)
                .Set("command_id", commandId);
        }

        /// <summary>Takes agents out of the world; their orders end with reason died. Lowest role:
        /// admin.</summary>
        /// <param name="world">number of the world</param>
        /// <param name="agents">ids</param>
        /// <param name="commandId">makes sending again safe, see *Sending again*; of the client's own
        /// choice</param>
        public Request AgentRemove(long world, IReadOnlyList<long> agents, long? commandId = null)
        {
            return Begin("agent.remove")
                .Set("world", world)
                .Set("agents", agents)
                .Set("command_id", commandId);
        }

        /// <summary>Gives one order to each of many agents; each ends exactly once, see the delta's `ended`.
        /// Not for observer and debug. Lowest role: player.</summary>
        /// <param name="world">number of the world</param>
        /// <param name="agents">ids; a player's order names each once, unless it has before or
        /// replaces</param>
        /// <param name="kind">move, stop, patrol, hold, follow, guard, explore, flee, keep_distance or
        /// scatter</param>
        /// <param name="goal">x, y for all of them. move: where to; patrol: there and back; guard: the place;
        /// scatter: the middle, absent: the middle of where they stand</param>
        /// <param name="goals">move: or x, y for each; patrol: or x, y of up to 32 waypoints</param>
        /// <param name="cells">flee: x, y of places to flee from, besides seen enemies</param>
        /// <param name="target">follow: id of an agent, own or seen; guard: of an own one, in place of goal;
        /// keep_distance: own or seen, absent: every enemy that the team sees</param>
        /// <param name="radius">cells. follow: how near, 2; guard: how far it may be, 4; flee: from what is
        /// nearer, 8; keep_distance: how far, 6; scatter: how far from the middle, absent: about nine cells
        /// for each unit</param>
        /// <param name="queue">after the orders that the agents have, at most 32, not in their place; not
        /// with stop; false</param>
        /// <param name="at">in place of queue: into the queue after so many others, the order under way not
        /// counted; 0: next. Where fewer wait, after all of them</param>
        /// <param name="before">in place of queue: before these queued orders; one of each agent, in the same
        /// order</param>
        /// <param name="replaces">in place of queue: each in place of one order that its agent has, queued or
        /// under way, which ends as replaced; all others stay. As many as agents, in the same order</param>
        /// <param name="deadline">ends as deadline so many ticks after its turn came, if it has not ended
        /// before; not with stop; absent: never</param>
        /// <param name="once">follow: a chase, which ends as arrived as soon as it is within the radius, with
        /// a straight way between; keep_distance: ends as arrived as soon as it is far enough; false: it goes
        /// on</param>
        /// <param name="alert">move, scatter, patrol, guard, explore, hold: stops as soon as its team sees an
        /// enemy within so many cells of it, and the delta's `alerts` tells; agent.resume lets it go on. A
        /// move with it is an attack-move; absent: stops for nobody</param>
        /// <param name="loop">patrol: from the last waypoint straight to the first, not back by the others;
        /// false</param>
        /// <param name="spread">move with goal, agents of one team: a free cell around the goal for each, by
        /// one shared search; false</param>
        /// <param name="formation">move with goal: keep (as they stand), line or box, across the direction of
        /// march; or none; none</param>
        /// <param name="commonSpeed">move: all as fast as the slowest of these agents; false</param>
        /// <param name="maxDetour">move, without spread and formation: when its path gets longer than so many
        /// per cent of the first one that was known, it does as with a goal that cannot be reached, and goes
        /// nowhere else; absent: any length</param>
        /// <param name="onUnreachable">nearest, fail or wait; nearest</param>
        /// <param name="commandId">makes sending again safe, see *Sending again*; of the client's own
        /// choice</param>
        public Request AgentOrder(long world, IReadOnlyList<long> agents, string kind, IReadOnlyList<long>
            goal = null, IReadOnlyList<long> goals = null, IReadOnlyList<long> cells = null, long? target =
            null, long? radius = null, bool? queue = null, long? at = null, IReadOnlyList<long> before = null,
            IReadOnlyList<long> replaces = null, long? deadline = null, bool? once = null, long? alert = null,
            bool? loop = null, bool? spread = null, string formation = null, bool? commonSpeed = null, long?
            maxDetour = null, string onUnreachable = null, long? commandId = null)
        {
            return Begin("agent.order")
                .Set("world", world)
                .Set("agents", agents)
                .Set("kind", kind)
                .Set("goal", goal)
                .Set("goals", goals)
                .Set("cells", cells)
                .Set("target", target)
                .Set("radius", radius)
                .Set("queue", queue)
                .Set("at", at)
                .Set("before", before)
                .Set("replaces", replaces)
                .Set("deadline", deadline)
                .Set("once", once)
                .Set("alert", alert)
                .Set("loop", loop)
                .Set("spread", spread)
                .Set("formation", formation)
                .Set("common_speed", commonSpeed)
                .Set("max_detour", maxDetour)
                .Set("on_unreachable", onUnreachable)
                .Set("command_id", commandId);
        }

        /// <summary>Ends orders, queued or under way, as cancelled: all that are named or, on an error, none.
        /// The others in the queues stay; after one that was under way the next begins. Not for observer and
        /// debug. Lowest role: player.</summary>
        /// <param name="world">number of the world</param>
        /// <param name="agents">ids; one again for each more of its orders</param>
        /// <param name="orders">one order of each, in the same order; no_order when the agent has no such
        /// order, or no longer</param>
        /// <param name="commandId">makes sending again safe, see *Sending again*; of the client's own
        /// choice</param>
        public Request AgentCancel(long world, IReadOnlyList<long> agents, IReadOnlyList<long> orders, long?
            commandId = null)
        {
            return Begin("agent.cancel")
                .Set("world", world)
                .Set("agents", agents)
                .Set("orders", orders)
                .Set("command_id", commandId);
        }

        /// <summary>Lets units go on that stopped for an enemy (`alert` of their orders). Where an enemy is
        /// near they stop again, and tell again. Not for observer and debug. Lowest role: player.</summary>
        /// <param name="world">number of the world</param>
        /// <param name="agents">ids; those whose order has no alert are left alone</param>
        /// <param name="ticks">in which they stop for nobody, from now on, whether they have stopped or not;
        /// 0</param>
        /// <param name="commandId">makes sending again safe, see *Sending again*; of the client's own
        /// choice</param>
        public Request AgentResume(long world, IReadOnlyList<long> agents, long? ticks = null, long? commandId
            = null)
        {
            return Begin("agent.resume")
                .Set("world", world)
                .Set("agents", agents)
                .Set("ticks", ticks)
                .Set("command_id", commandId);
        }

        /// <summary>Gives agents another planner, all of them or, on an error, none. Their orders stay; their
        /// searches start over in the next tick. Lowest role: admin.</summary>
        /// <param name="world">number of the world</param>
        /// <param name="agents">ids</param>
        /// <param name="planner">as in world.create; absent: that of their team</param>
        /// <param name="commandId">makes sending again safe, see *Sending again*; of the client's own
        /// choice</param>
        public Request AgentPlanner(long world, IReadOnlyList<long> agents, string planner = null, long?
            commandId = null)
        {
            return Begin("agent.planner")
                .Set("world", world)
                .Set("agents", agents)
                .Set("planner", planner)
                .Set("command_id", commandId);
        }

        /// <summary>Changes what living agents are, all of them or, on an error, none. Their orders stay;
        /// whose class changes searches again; whose team changes has no orders any more. At least one of the
        /// entries behind the ids is there. Lowest role: admin.</summary>
        /// <param name="world">number of the world</param>
        /// <param name="agents">ids</param>
        /// <param name="class">movement class, in which each of them fits where it stands; its planner stays,
        /// and must be able to work for the class</param>
        /// <param name="speed">cells per second of game time, as in agent.spawn; 0: one step a tick. In a
        /// group with common_speed it counts from the next order on</param>
        /// <param name="frozen">it does not move and nobody pushes it; its order waits, and continues when it
        /// is false again</param>
        /// <param name="tag">the game's own, which the server keeps and does not look into; views tell it to
        /// the agent's team and to those who see everything; empty: none any more</param>
        /// <param name="tagShown">other teams that see the agent are told its tag as well</param>
        /// <param name="sight">cells that it sees, by the shape and line of sight of the world's rules; 0:
        /// the world's sense_radius</param>
        /// <param name="team">whose it is from now on: the same agent with the same id, known to its new
        /// team's players by a new name. Its orders end as cancelled; it knows what its new team knows, and
        /// that learns nothing of what the old one knew</param>
        /// <param name="commandId">makes sending again safe, see *Sending again*; of the client's own
        /// choice</param>
        public Request AgentSet(long world, IReadOnlyList<long> agents, string @class = null, double? speed =
            null, bool? frozen = null, byte[] tag = null, bool? tagShown = null, long? sight = null, long?
            team = null, long? commandId = null)
        {
            return Begin("agent.set")
                .Set("world", world)
                .Set("agents", agents)
                .Set("class", @class)
                .Set("speed", speed)
                .Set("frozen", frozen)
                .Set("tag", tag)
                .Set("tag_shown", tagShown)
                .Set("sight", sight)
                .Set("team", team)
                .Set("command_id", commandId);
        }

        /// <summary>Puts living agents elsewhere, all of them or, on an error, none. Their orders stay and
        /// continue from there. Lowest role: admin.</summary>
        /// <param name="world">number of the world</param>
        /// <param name="agents">ids, each once</param>
        /// <param name="cells">x, y of each agent, of its north-west cell when it is larger than one; one may
        /// go where another of them stood</param>
        /// <param name="place">exact: on the cells or nowhere; nearest: on the nearest cells that can hold
        /// them; exact</param>
        /// <param name="commandId">makes sending again safe, see *Sending again*; of the client's own
        /// choice</param>
        public Request AgentPlace(long world, IReadOnlyList<long> agents, IReadOnlyList<long> cells, string
            place = null, long? commandId = null)
        {
            return Begin("agent.place")
                .Set("world", world)
                .Set("agents", agents)
                .Set("cells", cells)
                .Set("place", place)
                .Set("command_id", commandId);
        }

        /// <summary>One agent carries others from now on, all of them or, on an error, none: see
        /// *Transports*. Their orders end as boarded. carried when the carrier is carried itself, or one of
        /// them carries others; too_far; limit when it would carry more than 64. Lowest role:
        /// admin.</summary>
        /// <param name="world">number of the world</param>
        /// <param name="agents">ids, each once, all of the carrier's team</param>
        /// <param name="carrier">id of the agent that carries them; no_target when there is none, or of
        /// another team</param>
        /// <param name="radius">cells from the carrier's to the nearest cell of each, also diagonally;
        /// 1</param>
        /// <param name="commandId">makes sending again safe, see *Sending again*; of the client's own
        /// choice</param>
        public Request AgentBoard(long world, IReadOnlyList<long> agents, long carrier, long? radius = null,
            long? commandId = null)
        {
            return Begin("agent.board")
                .Set("world", world)
                .Set("agents", agents)
                .Set("carrier", carrier)
                .Set("radius", radius)
                .Set("command_id", commandId);
        }

        /// <summary>Those who are carried come out around their carrier, all of them or, on an error, none:
        /// see *Transports*. not_carried; occupied_cell when there are too few free cells. Lowest role:
        /// admin.</summary>
        /// <param name="world">number of the world</param>
        /// <param name="agents">ids, each once</param>
        /// <param name="carrier">in place of agents: all that this agent carries, in the order in which they
        /// boarded</param>
        /// <param name="radius">cells from the carrier's at most; 1: beside it</param>
        /// <param name="commandId">makes sending again safe, see *Sending again*; of the client's own
        /// choice</param>
        public Request AgentUnboard(long world, IReadOnlyList<long> agents = null, long? carrier = null, long?
            radius = null, long? commandId = null)
        {
            return Begin("agent.unboard")
                .Set("world", world)
                .Set("agents", agents)
                .Set("carrier", carrier)
                .Set("radius", radius)
                .Set("command_id", commandId);
        }

        /// <summary>Tells what units are doing: their orders, the next cells of their paths, and why they
        /// wait. A player's own; those that are not there (any more) are left out. What it costs is counted
        /// as path queries, one for 16 units. Lowest role: player.</summary>
        /// <param name="world">number of the world</param>
        /// <param name="agents">ids</param>
        /// <param name="cellsMax">cells of each path; 32</param>
        public Request AgentReport(long world, IReadOnlyList<long> agents, long? cellsMax = null)
        {
            return Begin("agent.report")
                .Set("world", world)
                .Set("agents", agents)
                .Set("cells_max", cellsMax);
        }

        /// <summary>Edits cells and rectangles of the true map: all of them or, on an error, none. Lowest
        /// role: admin.</summary>
        /// <param name="world">number of the world</param>
        /// <param name="set">blocked, free (cost 1), cost (keeps the terrain), or a terrain: ground,
        /// out_of_bounds, trees, swamp, water, wall</param>
        /// <param name="cost">with set = cost or a terrain: times the cost of open floor; a terrain keeps the
        /// cost</param>
        /// <param name="cells">x, y of each cell</param>
        /// <param name="rects">x, y, width, height of each rectangle</param>
        /// <param name="commandId">makes sending again safe, see *Sending again*; of the client's own
        /// choice</param>
        public Request TerrainSet(long world, string set, long? cost = null, IReadOnlyList<long> cells = null,
            IReadOnlyList<long> rects = null, long? commandId = null)
        {
            return Begin("terrain.set")
                .Set("world", world)
                .Set("set", set)
                .Set("cost", cost)
                .Set("cells", cells)
                .Set("rects", rects)
                .Set("command_id", commandId);
        }

        /// <summary>Places a rectangle that no unit enters. Its owner knows at once; other teams see it when
        /// they look, and believe in it until they see that it is gone. Players may, where the world lets
        /// them (players_build), on free ground that their team sees. Lowest role: player.</summary>
        /// <param name="world">number of the world</param>
        /// <param name="rect">x, y, width, height; at most 4096 cells, a player's 64, none of another
        /// building</param>
        /// <param name="team">owner; 0 or absent: nobody, or a player's own team</param>
        /// <param name="onUnits">units on the site: push them to the nearest free cells, or refuse; push, a
        /// player's always refuse</param>
        /// <param name="commandId">makes sending again safe, see *Sending again*; of the client's own
        /// choice</param>
        public Request BuildingPlace(long world, IReadOnlyList<long> rect, long? team = null, string onUnits =
            null, long? commandId = null)
        {
            return Begin("building.place")
                .Set("world", world)
                .Set("team", team)
                .Set("rect", rect)
                .Set("on_units", onUnits)
                .Set("command_id", commandId);
        }

        /// <summary>Removes a building; the terrain under it is as it was before. Players may as with
        /// building.place: their team's own, while it sees all of it. Lowest role: player.</summary>
        /// <param name="world">number of the world</param>
        /// <param name="building">number of the building</param>
        /// <param name="commandId">makes sending again safe, see *Sending again*; of the client's own
        /// choice</param>
        public Request BuildingRemove(long world, long building, long? commandId = null)
        {
            return Begin("building.remove")
                .Set("world", world)
                .Set("building", building)
                .Set("command_id", commandId);
        }

        /// <summary>Finds a shortest path, or many, on what a team knows, or on the true map (observer and
        /// above). Lowest role: player.</summary>
        /// <param name="world">number of the world</param>
        /// <param name="team">team, for a player its own; 0 or absent: a player's own, for others the true
        /// map</param>
        /// <param name="class">movement class; the world's first</param>
        /// <param name="from">x, y</param>
        /// <param name="to">x, y</param>
        /// <param name="pairs">instead of from and to: x, y, x, y of each path</param>
        /// <param name="expansionsMax">give up after so many expansions, each</param>
        /// <param name="planner">a planner that searches forward, such as astar:heuristic=landmarks; absent:
        /// jump points where they apply, else A*</param>
        public Request PathQuery(long world, long? team = null, string @class = null, IReadOnlyList<long> from
            = null, IReadOnlyList<long> to = null, IReadOnlyList<long> pairs = null, long? expansionsMax =
            null, string planner = null)
        {
            return Begin("path.query")
                .Set("world", world)
                .Set("team", team)
                .Set("class", @class)
                .Set("from", from)
                .Set("to", to)
                .Set("pairs", pairs)
                .Set("expansions_max", expansionsMax)
                .Set("planner", planner);
        }

        /// <summary>How far it is along a shortest path, or along many. Lowest role: player.</summary>
        /// <param name="world">number of the world</param>
        /// <param name="team">team, for a player its own; 0 or absent: a player's own, for others the true
        /// map</param>
        /// <param name="class">movement class; the world's first</param>
        /// <param name="from">x, y</param>
        /// <param name="to">x, y</param>
        /// <param name="pairs">instead of from and to: x, y, x, y of each path</param>
        /// <param name="expansionsMax">give up after so many expansions, each</param>
        public Request PathDistance(long world, long? team = null, string @class = null, IReadOnlyList<long>
            from = null, IReadOnlyList<long> to = null, IReadOnlyList<long> pairs = null, long? expansionsMax
            = null)
        {
            return Begin("path.distance")
                .Set("world", world)
                .Set("team", team)
                .Set("class", @class)
                .Set("from", from)
                .Set("to", to)
                .Set("pairs", pairs)
                .Set("expansions_max", expansionsMax);
        }

        /// <summary>Whether there is a path; takes the same short time however far it is. Lowest role:
        /// player.</summary>
        /// <param name="world">number of the world</param>
        /// <param name="team">team, for a player its own; 0 or absent: a player's own, for others the true
        /// map</param>
        /// <param name="class">movement class; the world's first</param>
        /// <param name="from">x, y</param>
        /// <param name="to">x, y</param>
        /// <param name="pairs">instead of from and to: x, y, x, y of each question</param>
        public Request PathReachable(long world, long? team = null, string @class = null, IReadOnlyList<long>
            from = null, IReadOnlyList<long> to = null, IReadOnlyList<long> pairs = null)
        {
            return Begin("path.reachable")
                .Set("world", world)
                .Set("team", team)
                .Set("class", @class)
                .Set("from", from)
                .Set("to", to)
                .Set("pairs", pairs);
        }

        /// <summary>Finds the nearest of several goals by the cost of the path, and the path, in one search.
        /// Lowest role: player.</summary>
        /// <param name="world">number of the world</param>
        /// <param name="from">x, y</param>
        /// <param name="goals">x, y of each goal</param>
        /// <param name="team">team, for a player its own; 0 or absent: a player's own, for others the true
        /// map</param>
        /// <param name="class">movement class; the world's first</param>
        /// <param name="expansionsMax">give up after so many expansions, each</param>
        public Request PathNearest(long world, IReadOnlyList<long> from, IReadOnlyList<long> goals, long? team
            = null, string @class = null, long? expansionsMax = null)
        {
            return Begin("path.nearest")
                .Set("world", world)
                .Set("team", team)
                .Set("class", @class)
                .Set("from", from)
                .Set("goals", goals)
                .Set("expansions_max", expansionsMax);
        }

        /// <summary>What it costs to come to a goal from each cell of a rectangle: for flow fields. Lowest
        /// role: player.</summary>
        /// <param name="world">number of the world</param>
        /// <param name="goal">x, y; inside the rectangle or not</param>
        /// <param name="rect">x, y, width, height; at most 16384 cells</param>
        /// <param name="team">team, for a player its own; 0 or absent: a player's own, for others the true
        /// map</param>
        /// <param name="class">movement class; the world's first</param>
        /// <param name="expansionsMax">give up after so many expansions, each</param>
        public Request PathField(long world, IReadOnlyList<long> goal, IReadOnlyList<long> rect, long? team =
            null, string @class = null, long? expansionsMax = null)
        {
            return Begin("path.field")
                .Set("world", world)
                .Set("team", team)
                .Set("class", @class)
                .Set("goal", goal)
                .Set("rect", rect)
                .Set("expansions_max", expansionsMax);
        }

        /// <summary>Moves a view to another rectangle. What it uncovers comes in a delta with `rect`, of a
        /// large one in a keyframe; both may come before the answer. A view that followed an agent stays
        /// where it is put. Lowest role: player.</summary>
        /// <param name="subscription">its number</param>
        /// <param name="rect">x, y, width, height</param>
        public Request SubscriptionMove(long subscription, IReadOnlyList<long> rect)
        {
            return Begin("subscription.move")
                .Set("subscription", subscription)
                .Set("rect", rect);
        }

        /// <summary>Counters of the server, and of one world when it is named. Lowest role:
        /// observer.</summary>
        /// <param name="world">number of the world</param>
        /// <param name="reset">admin: the world's tick_ms, overrun_ms, stages_ms and
        /// order_to_first_move_ticks start over after this answer; false</param>
        /// <param name="teams">with a world: also what each team may search; false</param>
        public Request Stats(long? world = null, bool? reset = null, bool? teams = null)
        {
            return Begin("stats")
                .Set("world", world)
                .Set("reset", reset)
                .Set("teams", teams);
        }

        /// <summary>Everything about one agent: state, order, planner, search, path. carried while another
        /// one carries it; agent.report tells which. Lowest role: debug.</summary>
        /// <param name="world">number of the world</param>
        /// <param name="agent">id</param>
        /// <param name="rect">x, y, width, height: also list the search's cells in here, at most
        /// 16384</param>
        /// <param name="channels">what is sent, words with spaces between them: report, path, search, details
        /// (the last two with rect); report path search</param>
        public Request DebugInspect(long world, long agent, IReadOnlyList<long> rect = null, string channels =
            null)
        {
            return Begin("debug.inspect")
                .Set("world", world)
                .Set("agent", agent)
                .Set("rect", rect)
                .Set("channels", channels);
        }

        /// <summary>Inspects an agent after every tick: notification debug. It ends with the agent, or when
        /// another one carries it, in a replay not; at most 64 in a world. Lowest role: debug.</summary>
        /// <param name="world">number of the world</param>
        /// <param name="agent">id</param>
        /// <param name="rect">x, y, width, height: also list the search's cells in here, at most
        /// 16384</param>
        /// <param name="channels">what is sent, words with spaces between them: report, path, search, details
        /// (the last two with rect); report path search</param>
        public Request DebugSubscribe(long world, long agent, IReadOnlyList<long> rect = null, string channels
            = null)
        {
            return Begin("debug.subscribe")
                .Set("world", world)
                .Set("agent", agent)
                .Set("rect", rect)
                .Set("channels", channels);
        }

        /// <summary>Ends what debug.subscribe began. Lowest role: debug.</summary>
        /// <param name="world">number of the world</param>
        /// <param name="subscription">its number</param>
        public Request DebugUnsubscribe(long world, long subscription)
        {
            return Begin("debug.unsubscribe")
                .Set("world", world)
                .Set("subscription", subscription);
        }

        /// <summary>Why an agent does what it does: what holds it up, its orders and how they ended, why its
        /// search went on. carried as in debug.inspect. As far back as the last 65536 events of the world.
        /// Lowest role: debug.</summary>
        /// <param name="world">number of the world</param>
        /// <param name="agent">id</param>
        public Request DebugExplain(long world, long agent)
        {
            return Begin("debug.explain")
                .Set("world", world)
                .Set("agent", agent);
        }

        /// <summary>Asks several planners for the path from where an agent stands to its goal, on what its
        /// team knows, outside of ticks; the agent continues with its own. Lowest role: debug.</summary>
        /// <param name="world">number of the world</param>
        /// <param name="agent">id</param>
        /// <param name="planners">1 to 8 planners as in world.create, with spaces between them</param>
        /// <param name="goal">x, y; that of its order</param>
        /// <param name="expansionsMax">give up after so many expansions, each</param>
        /// <param name="rect">x, y, width, height: also list the searches' cells in here, at most 16384 in
        /// all</param>
        public Request DebugCompare(long world, long agent, string planners, IReadOnlyList<long> goal = null,
            long? expansionsMax = null, IReadOnlyList<long> rect = null)
        {
            return Begin("debug.compare")
                .Set("world", world)
                .Set("agent", agent)
                .Set("planners", planners)
                .Set("goal", goal)
                .Set("expansions_max", expansionsMax)
                .Set("rect", rect);
        }

        /// <summary>Where the work goes: the most expensive agents, planners, teams or edits. Lowest role:
        /// debug.</summary>
        /// <param name="world">number of the world</param>
        /// <param name="by">agents, planners, teams or edits; agents</param>
        /// <param name="rows">at most so many; 10</param>
        public Request DebugTop(long world, string by = null, long? rows = null)
        {
            return Begin("debug.top")
                .Set("world", world)
                .Set("by", by)
                .Set("rows", rows);
        }

        /// <summary>Who is stuck, where a cell holds one unit, and waits for whom: who wanted to continue and
        /// did not get away for 128 ticks; looked for every 128 ticks. Lowest role: debug.</summary>
        /// <param name="world">number of the world</param>
        public Request DebugJams(long world)
        {
            return Begin("debug.jams")
                .Set("world", world);
        }

        /// <summary>Saves a world, between two ticks, as one file that save.download gives and world.load
        /// takes. Searches that are under way begin again. The file is kept for this session until its end
        /// has been downloaded or the session saves again. Lowest role: admin.</summary>
        /// <param name="world">number of the world</param>
        public Request WorldSave(long world)
        {
            return Begin("world.save")
                .Set("world", world);
        }

        /// <summary>Gives a piece of a saved world. Lowest role: admin.</summary>
        /// <param name="save">number of the file, from world.save of this session</param>
        /// <param name="offset">where the piece begins</param>
        /// <param name="size">bytes of it; 262144</param>
        public Request SaveDownload(long save, long offset, long? size = null)
        {
            return Begin("save.download")
                .Set("save", save)
                .Set("offset", offset)
                .Set("size", size);
        }

        /// <summary>Makes a world from a saved one, which continues as if it had never stopped. Nobody is
        /// subscribed to it, and tokens of players are not saved. Also takes what `fogmarch replay seek
        /// --save` writes, which has neither name nor pace. Lowest role: admin.</summary>
        /// <param name="upload">a finished map.upload</param>
        /// <param name="name">unique among worlds; letters, digits, . _ -; as saved</param>
        /// <param name="tickHz">ticks per second; as saved</param>
        /// <param name="budgetMs">milliseconds a tick may take; as saved</param>
        /// <param name="overload">slip, skip or degrade; as saved</param>
        /// <param name="paused">begin paused; as saved</param>
        /// <param name="number">in a cluster: the number that it had before etcd was lost, where none has it
        /// now; the next one</param>
        public Request WorldLoad(long upload, string name = null, double? tickHz = null, double? budgetMs =
            null, string overload = null, bool? paused = null, long? number = null)
        {
            return Begin("world.load")
                .Set("upload", upload)
                .Set("name", name)
                .Set("tick_hz", tickHz)
                .Set("budget_ms", budgetMs)
                .Set("overload", overload)
                .Set("paused", paused)
                .Set("number", number);
        }

        /// <summary>Lists the journals that replay.open takes, and the replays there are. Lowest role:
        /// debug.</summary>
        public Request ReplayList()
        {
            return Begin("replay.list");
        }

        /// <summary>Opens a journal as a world of its own that cannot be changed, at its first tick. It can
        /// be subscribed to, inspected and asked for paths like another one, is not in world.list, and ends
        /// with replay.close or with this session. Lowest role: debug.</summary>
        /// <param name="file">name of a file in journal_dir, as in replay.list</param>
        public Request ReplayOpen(string file)
        {
            return Begin("replay.open")
                .Set("file", file);
        }

        /// <summary>Goes to a tick, forwards or backwards, and continues playing from there if it plays.
        /// Views get a keyframe before the answer. A later seek takes the place of one under way; both are
        /// answered where that ends. Lowest role: debug.</summary>
        /// <param name="world">number of the replay</param>
        /// <param name="tick">ticks completed</param>
        public Request ReplaySeek(long world, long tick)
        {
            return Begin("replay.seek")
                .Set("world", world)
                .Set("tick", tick);
        }

        /// <summary>Continues tick by tick until replay.pause or the end of the journal. The answer is given
        /// before the first. Lowest role: debug.</summary>
        /// <param name="world">number of the replay</param>
        /// <param name="tickHz">ticks per second; as before, at first those of the world</param>
        public Request ReplayPlay(long world, double? tickHz = null)
        {
            return Begin("replay.play")
                .Set("world", world)
                .Set("tick_hz", tickHz);
        }

        /// <summary>Stays where it is. Lowest role: debug.</summary>
        /// <param name="world">number of the replay</param>
        public Request ReplayPause(long world)
        {
            return Begin("replay.pause")
                .Set("world", world);
        }

        /// <summary>Ends a replay. Its subscriptions end. Lowest role: debug.</summary>
        /// <param name="world">number of the replay</param>
        public Request ReplayClose(long world)
        {
            return Begin("replay.close")
                .Set("world", world);
        }

        /// <summary>Which node of a cluster has a world; any node knows. not_ready: its node is gone, and the
        /// next one is about to take it over. Lowest role: player.</summary>
        /// <param name="world">number of the world</param>
        /// <param name="name">or its name</param>
        public Request WorldLocate(long? world = null, string name = null)
        {
            return Begin("world.locate")
                .Set("world", world)
                .Set("name", name);
        }

        /// <summary>The cluster as this node sees it. Lowest role: admin.</summary>
        public Request ClusterStatus()
        {
            return Begin("cluster.status");
        }

        /// <summary>Lists the tokens that token.create made and that are good, without the secrets. Lowest
        /// role: admin.</summary>
        public Request TokenList()
        {
            return Begin("token.list");
        }

        /// <summary>Moves a world to another node, where it goes on with its searches, orders and streams.
        /// Answered when the move has begun; cluster.status and world.locate say when it is there. Until then
        /// it ticks on where it is. not_ready: it has no node now, is on its way already, or there is no
        /// other node that takes worlds. Lowest role: admin.</summary>
        /// <param name="world">number of the world</param>
        /// <param name="node">name of the node; the one with the most capacity left. That it is on already:
        /// nothing happens</param>
        public Request ClusterMove(long world, string node = null)
        {
            return Begin("cluster.move")
                .Set("world", world)
                .Set("node", node);
        }

        /// <summary>A node gives its worlds to the others, two at a time, and takes no more until
        /// cluster.undrain, or until it is started again. Answered when it has begun. Lowest role:
        /// admin.</summary>
        /// <param name="node">name of the node; the one that is asked</param>
        public Request ClusterDrain(string node = null)
        {
            return Begin("cluster.drain")
                .Set("node", node);
        }

        /// <summary>A node takes worlds again. Those that are on their way to other nodes still go there, the
        /// others stay; none comes back by itself. Answered at once; cluster.status says when it holds.
        /// Lowest role: admin.</summary>
        /// <param name="node">name of the node; the one that is asked</param>
        public Request ClusterUndrain(string node = null)
        {
            return Begin("cluster.undrain")
                .Set("node", node);
        }

        /// <summary>For standbys: from now on this session gets `shipment` notifications with all that is in
        /// the server's journals and comes to them, once it is on the server's disk. busy: another standby
        /// follows already. bad_value: the standby's epoch is newer, so this server has been replaced; if
        /// they share a ledger, it ends. Lowest role: admin.</summary>
        /// <param name="epoch">of the standby</param>
        /// <param name="data">what it has already, to go on from there: first, perhaps, 0, 1 to follow or 2
        /// to say that it has taken over (8 bytes each), and 16 bytes that name its ledger; then of each
        /// world number, position (8 bytes each, lowest first) and link (16 bytes) of the last row</param>
        public Request JournalFollow(long epoch, byte[] data = null)
        {
            return Begin("journal.follow")
                .Set("epoch", epoch)
                .Set("data", data);
        }

        /// <summary>For standbys: all shipments up to this one are on its disk. Lowest role: admin.</summary>
        /// <param name="number">of the shipment</param>
        public Request JournalHave(long number)
        {
            return Begin("journal.have")
                .Set("number", number);
        }

        /// <summary>Whether a server has a standby, or is one, and how far that is. Lowest role:
        /// admin.</summary>
        public Request StandbyStatus()
        {
            return Begin("standby.status");
        }

        /// <summary>A standby stops following and goes on with the worlds where its copy ends. Answered when
        /// they tick. The server that it followed must be gone; if it comes back, this one tells it, and it
        /// ends. bad_value: this server is no standby. Lowest role: admin.</summary>
        public Request StandbyPromote()
        {
            return Begin("standby.promote");
        }
    }
}

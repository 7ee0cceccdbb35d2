"""Made by generate.py from proto/protocol.json. Change proto/protocol.def instead."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, cast

from .methods import (
    AgentBoard, AgentCancel, AgentOrder, AgentPlace, AgentPlanner, AgentRemove, AgentReport,
    AgentResume, AgentSet, AgentSpawn, AgentUnboard, BuildingPlace, BuildingRemove,
    ClusterDrain, ClusterMove, ClusterStatus, ClusterUndrain, DebugCompare, DebugExplain,
    DebugInspect, DebugJams, DebugSubscribe, DebugTop, Hello, JournalFollow, MapUpload,
    PathDistance, PathField, PathNearest, PathQuery, PathReachable, Ping, ReplayList,
    ReplayOpen, ReplayPause, ReplayPlay, ReplaySeek, SaveDownload, StandbyPromote,
    StandbyStatus, Stats, Subscribe, TeamCost, TeamCreate, TerrainSet, TokenCreate, TokenList,
    WorldCreate, WorldInfo, WorldList, WorldLoad, WorldLocate, WorldPause, WorldResume,
    WorldSave, WorldStep,
)


class PlainMethods:
    """Every method of the protocol; each waits for its answer. PlainClient inherits them."""

    def call(self, method: str, params: Mapping[str, Any]) -> Any:
        """Calls a method by its name; parameters that are None are left out."""
        raise NotImplementedError

    def hello(
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
        return cast(Hello, self.call('hello', params))

    def ping(
        self, *,
        time: int | None = None,
    ) -> Ping:
        """Answers at once from the event loop. Lowest role: none.

        time: echoed
        """
        params: dict[str, Any] = {
            'time': time,
        }
        return cast(Ping, self.call('ping', params))

    def token_create(
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
        return cast(TokenCreate, self.call('token.create', params))

    def token_revoke(
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
        self.call('token.revoke', params)

    def map_upload(
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
        return cast(MapUpload, self.call('map.upload', params))

    def world_create(
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
        return cast(WorldCreate, self.call('world.create', params))

    def world_list(
        self,
    ) -> WorldList:
        """Lists the worlds; for a player that of its seat. Lowest role: player.
        """
        params: dict[str, Any] = {
        }
        return cast(WorldList, self.call('world.list', params))

    def world_info(
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
        return cast(WorldInfo, self.call('world.info', params))

    def world_destroy(
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
        self.call('world.destroy', params)

    def world_pause(
        self, *,
        world: int,
    ) -> WorldPause:
        """Stops ticking. Commands are still accepted and done. Lowest role: admin.

        world: number of the world
        """
        params: dict[str, Any] = {
            'world': world,
        }
        return cast(WorldPause, self.call('world.pause', params))

    def world_resume(
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
        return cast(WorldResume, self.call('world.resume', params))

    def world_step(
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
        return cast(WorldStep, self.call('world.step', params))

    def team_create(
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
        return cast(TeamCreate, self.call('team.create', params))

    def team_cost(
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
        return cast(TeamCost, self.call('team.cost', params))

    def agent_spawn(
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
        return cast(AgentSpawn, self.call('agent.spawn', params))

    def agent_remove(
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
        return cast(AgentRemove, self.call('agent.remove', params))

    def agent_order(
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
        return cast(AgentOrder, self.call('agent.order', params))

    def agent_cancel(
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
        return cast(AgentCancel, self.call('agent.cancel', params))

    def agent_resume(
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
        return cast(AgentResume, self.call('agent.resume', params))

    def agent_planner(
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
        return cast(AgentPlanner, self.call('agent.planner', params))

    def agent_set(
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
        return cast(AgentSet, self.call('agent.set', params))

    def agent_place(
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
        return cast(AgentPlace, self.call('agent.place', params))

    def agent_board(
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
        return cast(AgentBoard, self.call('agent.board', params))

    def agent_unboard(
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
        return cast(AgentUnboard, self.call('agent.unboard', params))

    def agent_report(
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
        return cast(AgentReport, self.call('agent.report', params))

    def terrain_set(
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
        return cast(TerrainSet, self.call('terrain.set', params))

    def building_place(
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
        return cast(BuildingPlace, self.call('building.place', params))

    def building_remove(
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
        return cast(BuildingRemove, self.call('building.remove', params))

    def path_query(
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
        return cast(PathQuery, self.call('path.query', params))

    def path_distance(
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
        return cast(PathDistance, self.call('path.distance', params))

    def path_reachable(
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
        return cast(PathReachable, self.call('path.reachable', params))

    def path_nearest(
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
        return cast(PathNearest, self.call('path.nearest', params))

    def path_field(
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
        return cast(PathField, self.call('path.field', params))

    def subscribe(
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
        return cast(Subscribe, self.call('subscribe', params))

    def subscription_move(
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
        self.call('subscription.move', params)

    def unsubscribe(
        self, *,
        subscription: int,
    ) -> None:
        """Ends a subscription. Lowest role: player.

        subscription: its number
        """
        params: dict[str, Any] = {
            'subscription': subscription,
        }
        self.call('unsubscribe', params)

    def stats(
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
        return cast(Stats, self.call('stats', params))

    def debug_inspect(
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
        return cast(DebugInspect, self.call('debug.inspect', params))

    def debug_subscribe(
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
        return cast(DebugSubscribe, self.call('debug.subscribe', params))

    def debug_unsubscribe(
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
        self.call('debug.unsubscribe', params)

    def debug_explain(
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
        return cast(DebugExplain, self.call('debug.explain', params))

    def debug_compare(
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
        return cast(DebugCompare, self.call('debug.compare', params))

    def debug_top(
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
        return cast(DebugTop, self.call('debug.top', params))

    def debug_jams(
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
        return cast(DebugJams, self.call('debug.jams', params))

    def world_save(
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
        return cast(WorldSave, self.call('world.save', params))

    def save_download(
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
        return cast(SaveDownload, self.call('save.download', params))

    def world_load(
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
        return cast(WorldLoad, self.call('world.load', params))

    def replay_list(
        self,
    ) -> ReplayList:
        """Lists the journals that replay.open takes, and the replays there are. Lowest role: debug.
        """
        params: dict[str, Any] = {
        }
        return cast(ReplayList, self.call('replay.list', params))

    def replay_open(
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
        return cast(ReplayOpen, self.call('replay.open', params))

    def replay_seek(
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
        return cast(ReplaySeek, self.call('replay.seek', params))

    def replay_play(
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
        return cast(ReplayPlay, self.call('replay.play', params))

    def replay_pause(
        self, *,
        world: int,
    ) -> ReplayPause:
        """Stays where it is. Lowest role: debug.

        world: number of the replay
        """
        params: dict[str, Any] = {
            'world': world,
        }
        return cast(ReplayPause, self.call('replay.pause', params))

    def replay_close(
        self, *,
        world: int,
    ) -> None:
        """Ends a replay. Its subscriptions end. Lowest role: debug.

        world: number of the replay
        """
        params: dict[str, Any] = {
            'world': world,
        }
        self.call('replay.close', params)

    def world_locate(
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
        return cast(WorldLocate, self.call('world.locate', params))

    def cluster_status(
        self,
    ) -> ClusterStatus:
        """The cluster as this node sees it. Lowest role: admin.
        """
        params: dict[str, Any] = {
        }
        return cast(ClusterStatus, self.call('cluster.status', params))

    def token_list(
        self,
    ) -> TokenList:
        """Lists the tokens that token.create made and that are good, without the secrets. Lowest
        role: admin.
        """
        params: dict[str, Any] = {
        }
        return cast(TokenList, self.call('token.list', params))

    def cluster_move(
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
        return cast(ClusterMove, self.call('cluster.move', params))

    def cluster_drain(
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
        return cast(ClusterDrain, self.call('cluster.drain', params))

    def cluster_undrain(
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
        return cast(ClusterUndrain, self.call('cluster.undrain', params))

    def journal_follow(
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
        return cast(JournalFollow, self.call('journal.follow', params))

    def journal_have(
        self, *,
        number: int,
    ) -> None:
        """For standbys: all shipments up to this one are on its disk. Lowest role: admin.

        number: of the shipment
        """
        params: dict[str, Any] = {
            'number': number,
        }
        self.call('journal.have', params)

    def standby_status(
        self,
    ) -> StandbyStatus:
        """Whether a server has a standby, or is one, and how far that is. Lowest role: admin.
        """
        params: dict[str, Any] = {
        }
        return cast(StandbyStatus, self.call('standby.status', params))

    def standby_promote(
        self,
    ) -> StandbyPromote:
        """A standby stops following and goes on with the worlds where its copy ends. Answered when
        they tick. The server that it followed must be gone; if it comes back, this one tells
        it, and it ends. bad_value: this server is no standby. Lowest role: admin.
        """
        params: dict[str, Any] = {
        }
        return cast(StandbyPromote, self.call('standby.promote', params))

// View.cs: what a team sees, kept up to date by the server's keyframes and deltas (PROTOCOL.md, Views).
//
// A message is read in two passes: the first brings the view up to date, the second raises the events. So events
// find the whole view as of its tick, and one that throws leaves nothing half done. Both passes read the bytes in
// place. The view keeps its arrays from message to message, so it makes no garbage.

using System;
using System.Collections.Generic;

namespace Fogmarch
{
    /// <summary>Where a view stands.</summary>
    public enum ViewState
    {
        /// <summary>The keyframe is on its way.</summary>
        Waiting,

        /// <summary>It shows the world as of View.Tick.</summary>
        Live,

        /// <summary>No more changes come: unsubscribed, refused, or its world has ended.</summary>
        Ended,
    }

    /// <summary>Why an agent is no longer shown.</summary>
    public enum LeaveReason
    {
        /// <summary>No agent of the team sees it.</summary>
        Fog,

        /// <summary>It is dead, or was taken out of the world.</summary>
        Removed,

        /// <summary>It is outside the rectangle, or missing from a keyframe, which gives no reason.</summary>
        Outside,

        /// <summary>It belongs to another team now, and enters again where it is seen.</summary>
        Turned,

        /// <summary>It boarded a carrier, and is out of the world until it comes out.</summary>
        Boarded,
    }

    /// <summary>An agent in view.</summary>
    public struct Agent
    {
        /// <summary>Its id, never 0.</summary>
        public long Id;

        /// <summary>Its team, from 1.</summary>
        public int Team;

        /// <summary>Column of its cell, of a larger agent of its north-west cell; grows eastward.</summary>
        public int X;

        /// <summary>Row of that cell; grows southward.</summary>
        public int Y;

        /// <summary>What it does; for other teams always Idle.</summary>
        public AgentState State;

        /// <summary>Its movement class, from 0, in the order of world.create.</summary>
        public int Class;
    }

    /// <summary>How an agent moves, in a view with motion (PROTOCOL.md, Motion).</summary>
    public struct Motion
    {
        /// <summary>Of its last step: 0 east, 1 south-east ... 7 north-east; 8 unknown.</summary>
        public int Heading;

        /// <summary>Of its last step, in cells a tick; 0 unknown.</summary>
        public float Speed;

        /// <summary>How many waypoints it has, 0 to 4: where the middle of an own agent goes next.</summary>
        public int Count;

        internal ulong Xs, Ys; // half cells, 16 bits each

        /// <summary>X of a waypoint, counted from 0, in cells; the middle of cell x, y is x + 0.5, y + 0.5.</summary>
        public float X(int index)
        {
            return ((Xs >> 16 * index) & 0xffff) / 2f;
        }

        /// <summary>As X.</summary>
        public float Y(int index)
        {
            return ((Ys >> 16 * index) & 0xffff) / 2f;
        }
    }

    /// <summary>A building that the view believes in.</summary>
    public struct Building
    {
        /// <summary>Its number.</summary>
        public long Number;

        /// <summary>Its owner; 0: nobody.</summary>
        public int Team;

        /// <summary>Its north-west cell.</summary>
        public int X;

        /// <summary>As X.</summary>
        public int Y;

        /// <summary>Cells from west to east.</summary>
        public int Width;

        /// <summary>Cells from north to south.</summary>
        public int Height;
    }

    /// <summary>What a view knows of a cell.</summary>
    public enum Fog
    {
        /// <summary>It was never seen, or is not in view.</summary>
        Hidden,

        /// <summary>It was seen before, but is not now.</summary>
        Explored,

        /// <summary>It is seen now; only in a view with sight.</summary>
        Visible,
    }

    /// <summary>A unit that stopped for an enemy.</summary>
    public struct Alert
    {
        /// <summary>Its order's id.</summary>
        public long Order;

        /// <summary>The unit that stopped.</summary>
        public long Agent;

        /// <summary>The enemy; 0: out of sight again.</summary>
        public long Seen;

        /// <summary>Where the enemy stood.</summary>
        public int X;

        /// <summary>As X.</summary>
        public int Y;
    }

    /// <summary>An order that ended.</summary>
    public struct OrderEnded
    {
        /// <summary>Its id.</summary>
        public long Order;

        /// <summary>The agent that had it.</summary>
        public long Agent;

        /// <summary>Why.</summary>
        public OrderEnd Reason;

        /// <summary>Where the agent stood then.</summary>
        public int X;

        /// <summary>As X.</summary>
        public int Y;
    }

    /// <summary>A view. Client.Subscribe() makes it.</summary>
    public sealed class View
    {
        private const int CellsMax = 4096 * 4096;
        private const int WaypointsMax = 4;
        private const int HeadingUnknown = 8;

        // The entries of a message that are lists or rectangles; the others come by themselves.
        private enum Entry { Rect, Cells, Agents, Enter, Moved, Leave, Buildings, Classes, Ended, Motion, Tagged, Tags, Visible,
            Alerts, Died, Count }

        private static readonly string[] names =
        {
            "rect", "cells", "agents", "enter", "moved", "leave", "buildings", "classes", "ended", "motion",
            "tagged", "tags", "visible", "alerts", "died",
        };

        private struct Gone
        {
            public long Id;
            public LeaveReason Reason;
        }

        private ushort[] looks = new ushort[0], looksBefore = new ushort[0];
        private Agent[] agents = new Agent[16];
        private Motion[] motions = new Motion[16]; // beside `agents`
        private byte[][] tags = new byte[16][]; // the same; null: none
        private bool[] visible = new bool[0]; // by cell; empty without sight
        private int[] stamps = new int[16]; // number of the last message that had the agent
        private int stamp;
        private Building[] buildings = new Building[0];
        private readonly Dictionary<long, int> places = new Dictionary<long, int>(); // id to index in `agents`
        private readonly List<Gone> gone = new List<Gone>();
        private readonly List<long> come = new List<long>();
        private readonly int[] at = new int[(int)Entry.Count]; // where each entry is in the message; 0: not there
        private byte[] message;

        /// <summary>Of a view that is over: the node that has its world now, as HOST:PORT; null: none is known.</summary>
        public string MovedTo { get; internal set; }

        internal Client Client;
        internal readonly long[] Asked; // the rect asked for, or null
        internal readonly long Every;
        internal readonly bool HasMotion, HasSight;
        internal long Subscription, Stream;
        internal bool Resumes, WasLive; // in a cluster: it was answered once

        internal View(Client client, long world, long team, long[] rect, long every, bool motion, bool sight)
        {
            Client = client;
            World = world;
            Team = team;
            Asked = rect;
            Every = every;
            HasMotion = motion;
            HasSight = sight;
        }

        // ---- what it shows ---------------------------------------------------------------------

        /// <summary>Its world.</summary>
        public long World { get; private set; }

        /// <summary>The team that was asked for.</summary>
        public long Team { get; private set; }

        /// <summary>Where it stands.</summary>
        public ViewState State { get; internal set; }

        /// <summary>Whether the server continued where a lost connection ended.</summary>
        public bool Resumed { get; internal set; }

        /// <summary>Ticks completed.</summary>
        public long Tick { get; private set; }

        /// <summary>The part of the world that is shown.</summary>
        public int X { get; private set; }

        /// <summary>As X.</summary>
        public int Y { get; private set; }

        /// <summary>As X, in cells.</summary>
        public int Width { get; private set; }

        /// <summary>As X, in cells.</summary>
        public int Height { get; private set; }

        /// <summary>How many agents it shows.</summary>
        public int AgentCount { get; private set; }

        /// <summary>How many buildings it believes in.</summary>
        public int BuildingCount { get; private set; }

        /// <summary>One of them, from 0; their order means nothing and changes.</summary>
        public Agent AgentAt(int index)
        {
            if (index >= AgentCount)
            {
                throw new ArgumentOutOfRangeException("index");
            }
            return agents[index];
        }

        /// <summary>One of them, from 0.</summary>
        public Building BuildingAt(int index)
        {
            if (index >= BuildingCount)
            {
                throw new ArgumentOutOfRangeException("index");
            }
            return buildings[index];
        }

        /// <returns>whether the agent is in view</returns>
        public bool TryGetAgent(long id, out Agent agent)
        {
            int place;
            bool isThere = places.TryGetValue(id, out place);
            agent = isThere ? agents[place] : default(Agent);
            return isThere;
        }

        /// <returns>whether anything is known about how the agent moves; only in a view with motion</returns>
        public bool TryGetMotion(long id, out Motion motion)
        {
            int place;
            bool isThere = places.TryGetValue(id, out place);
            motion = isThere ? motions[place] : new Motion { Heading = HeadingUnknown };
            return motion.Heading != HeadingUnknown || motion.Count > 0;
        }

        /// <summary>What the game has attached to an agent (agent.set), if this view may see it.</summary>
        /// <returns>whether it has a tag; the array is the view's own, and never changes</returns>
        public bool TryGetTag(long id, out byte[] tag)
        {
            int place;
            tag = places.TryGetValue(id, out place) ? tags[place] : null;
            return tag != null;
        }

        /// <summary>Whether a cell is hidden, explored or visible; the last only in a view with sight.</summary>
        public Fog FogAt(int x, int y)
        {
            bool isInside = x >= X && y >= Y && x - X < Width && y - Y < Height;
            if (HasSight && isInside && visible[(y - Y) * Width + (x - X)])
            {
                return Fog.Visible; // its look comes with the next tick
            }
            return Look(x, y) == 0 ? Fog.Hidden : Fog.Explored;
        }

        /// <summary>Terrain and cost of a cell in one number, as in PROTOCOL.md; 0: unknown, or not in view.</summary>
        public int Look(int x, int y)
        {
            bool isInside = x >= X && y >= Y && x - X < Width && y - Y < Height;
            return isInside ? looks[(y - Y) * Width + (x - X)] : 0;
        }

        /// <summary>What a cell is.</summary>
        public Terrain TerrainAt(int x, int y)
        {
            return (Terrain)(Look(x, y) & 15);
        }

        /// <summary>How many times the cost of open floor a known cell has, from 1.</summary>
        public int CostAt(int x, int y)
        {
            return (Look(x, y) >> 4) + 1;
        }

        /// <summary>Ends the subscription; the view stays as it is.</summary>
        public void Unsubscribe()
        {
            Client.Unsubscribe(this);
        }

        // ---- events ----------------------------------------------------------------------------
        // Raised for each message in this order, for one agent or order after the other.

        /// <summary>Everything may be different: the first keyframe, a later one, another rectangle. Draw all cells
        /// again; events of agents come as usual.</summary>
        public event Action<View> Replaced;

        /// <summary>So many cells from x, y eastward have a new look.</summary>
        public event Action<View, int, int, int> CellsChanged;

        /// <summary>An agent is no longer shown.</summary>
        public event Action<View, long, LeaveReason> Left;

        /// <summary>An agent came into view.</summary>
        public event Action<View, Agent> Entered;

        /// <summary>An agent moved or changed its state.</summary>
        public event Action<View, Agent> Moved;

        /// <summary>An agent's tag changed or was removed; after a keyframe: it has a tag.</summary>
        public event Action<View, Agent> Tagged;

        /// <summary>So many cells from x, y eastward came into sight or left it; only with sight.</summary>
        public event Action<View, int, int, int> SightChanged;

        /// <summary>Buildings came or went.</summary>
        public event Action<View> BuildingsChanged;

        /// <summary>An order ended; each does exactly once.</summary>
        public event Action<View, OrderEnded> OrderEnded;

        /// <summary>A unit stopped for an enemy (alert of agent.order); agent.resume lets it go on.</summary>
        public event Action<View, Alert> Alerted;

        /// <summary>An own agent died while another one carried it; it had left the view before.</summary>
        public event Action<View, long> Died;

        /// <summary>All events of the message have been raised.</summary>
        public event Action<View> Changed;

        /// <summary>The subscription is over or was refused; the text says why. Other views go on; see MovedTo.</summary>
        public event Action<View, string> Ended;

        internal void TellEnd(string reason)
        {
            if (Ended != null)
            {
                Ended(this, reason);
            }
        }

        // ---- messages --------------------------------------------------------------------------

        internal void Take(PackReader reader, bool isKeyframe)
        {
            Index(reader);
            stamp++;
            come.Clear();
            gone.Clear();
            if (isKeyframe)
            {
                Replace();
            }
            else
            {
                Change();
            }
            State = ViewState.Live;
            Tell(isKeyframe);
        }

        // Finds where the message's entries are.
        private void Index(PackReader reader)
        {
            Array.Clear(at, 0, at.Length);
            message = reader.Bytes;
            int count = reader.TakeMap();
            for (int i = 0; i < count; i++)
            {
                PackReader key = reader;
                int entry = 0;
                while (entry < names.Length && !IsKey(key, names[entry]))
                {
                    entry++;
                }
                bool isTick = IsKey(key, "tick");
                reader.Skip();
                if (isTick)
                {
                    PackReader tick = reader;
                    Tick = tick.TakeUInt();
                }
                else if (entry < names.Length)
                {
                    at[entry] = reader.At;
                }
                reader.Skip();
            }
        }

        private static bool IsKey(PackReader reader, string name)
        {
            return reader.TakeName(name);
        }

        private bool Has(Entry entry)
        {
            return at[(int)entry] != 0;
        }

        // The numbers of an entry; none if the message does not have it.
        private PackReader Open(Entry entry, int width, out int rows)
        {
            var reader = new PackReader(message, at[(int)entry]);
            int count = Has(entry) ? reader.TakeArray() : 0;
            if (count % width != 0)
            {
                throw new ProtocolException("a list that is cut short: " + names[(int)entry]);
            }
            rows = count / width;
            return reader;
        }

        private void Replace()
        {
            SetRect();
            FillCells();
            Enter(Entry.Agents);
            for (int i = AgentCount - 1; i >= 0; i--)
            {
                if (stamps[i] != stamp)
                {
                    gone.Add(new Gone { Id = agents[i].Id, Reason = LeaveReason.Outside });
                    Remove(i);
                }
            }
            Classify();
            SetMotions();
            SetTags();
            SeeAll();
            Build();
        }

        private void Change()
        {
            Leave();
            if (Has(Entry.Rect))
            {
                MoveRect();
            }
            Enter(Entry.Enter);
            Classify();
            SetMotions();
            SetTags();
            if (Has(Entry.Buildings))
            {
                Build();
            }
            Move();
            SetCells();
            See();
        }

        // ---- cells -----------------------------------------------------------------------------

        private void SetRect()
        {
            int rows;
            PackReader reader = Open(Entry.Rect, 4, out rows);
            if (rows != 1)
            {
                throw new ProtocolException("a view without a rectangle");
            }
            X = reader.TakeInt();
            Y = reader.TakeInt();
            Width = reader.TakeInt();
            Height = reader.TakeInt();
            if ((long)Width * Height > CellsMax)
            {
                throw new ProtocolException("a rectangle that is too large");
            }
            if (looks.Length < Width * Height)
            {
                looks = new ushort[Width * Height];
            }
            if (HasSight && visible.Length < Width * Height)
            {
                visible = new bool[Width * Height];
            }
        }

        private void FillCells()
        {
            int rows, place = 0;
            PackReader reader = Open(Entry.Cells, 2, out rows);
            for (int i = 0; i < rows; i++)
            {
                int count = reader.TakeInt();
                ushort look = (ushort)reader.TakeInt();
                if (count > Width * Height - place)
                {
                    throw new ProtocolException("more cells than the rectangle has");
                }
                for (int end = place + count; place < end; place++)
                {
                    looks[place] = look;
                }
            }
            Array.Clear(looks, place, Width * Height - place);
        }

        // The rectangle has moved: cells that it did not show before are unknown.
        private void MoveRect()
        {
            int left = X, top = Y, width = Width, height = Height;
            ushort[] before = looks;
            looks = looksBefore;
            looksBefore = before;
            SetRect();
            Array.Clear(looks, 0, Width * Height);
            Array.Clear(visible, 0, visible.Length); // the same message has what is visible
            int first = Math.Max(X, left), end = Math.Min(X + Width, left + width);
            for (int y = Math.Max(Y, top); y < Math.Min(Y + Height, top + height) && first < end; y++)
            {
                Array.Copy(before, (y - top) * width + (first - left), looks, (y - Y) * Width + (first - X),
                           end - first);
            }
        }

        private void SetCells()
        {
            int rows;
            PackReader reader = Open(Entry.Cells, 4, out rows);
            for (int i = 0; i < rows; i++)
            {
                int x = reader.TakeInt() - X, y = reader.TakeInt() - Y, count = reader.TakeInt();
                ushort look = (ushort)reader.TakeInt();
                if (x < 0 || y < 0 || y >= Height || count > Width - x)
                {
                    throw new ProtocolException("cells outside of the rectangle");
                }
                int place = y * Width + x;
                for (int end = place + count; place < end; place++)
                {
                    looks[place] = look;
                }
            }
        }

        // ---- what is visible -------------------------------------------------------------------

        // From a keyframe: runs of cells that are not visible and runs that are, in turn.
        private void SeeAll()
        {
            int rows, place = 0;
            PackReader reader = Open(Entry.Visible, 1, out rows);
            Array.Clear(visible, 0, visible.Length);
            for (int i = 0; i < rows && HasSight; i++)
            {
                int count = reader.TakeInt();
                if (count > Width * Height - place)
                {
                    throw new ProtocolException("more cells than the rectangle has");
                }
                for (int end = place + count; place < end; place++)
                {
                    visible[place] = i % 2 == 1;
                }
            }
        }

        // A run continues at the beginning of the next row.
        private void See()
        {
            int rows;
            PackReader reader = Open(Entry.Visible, 4, out rows);
            for (int i = 0; i < rows && HasSight; i++)
            {
                int x = reader.TakeInt() - X, y = reader.TakeInt() - Y, count = reader.TakeInt();
                bool isVisible = reader.TakeInt() != 0;
                long place = (long)y * Width + x, end = place + count;
                if (x < 0 || y < 0 || x >= Width || end > (long)Width * Height)
                {
                    throw new ProtocolException("cells outside of the rectangle");
                }
                for (; place < end; place++)
                {
                    visible[place] = isVisible;
                }
            }
        }

        // ---- agents ----------------------------------------------------------------------------

        private void Enter(Entry entry)
        {
            int rows;
            PackReader reader = Open(entry, 5, out rows);
            for (int i = 0; i < rows; i++)
            {
                long id = reader.TakeUInt();
                int place = PlaceOf(id);
                agents[place] = new Agent
                {
                    Id = id, Team = reader.TakeInt(), X = reader.TakeInt(), Y = reader.TakeInt(),
                    State = (AgentState)reader.TakeInt(),
                };
                motions[place] = new Motion { Heading = HeadingUnknown };
                tags[place] = null;
                stamps[place] = stamp;
            }
        }

        private int PlaceOf(long id)
        {
            int place;
            if (places.TryGetValue(id, out place))
            {
                return place;
            }
            if (AgentCount == agents.Length)
            {
                Array.Resize(ref agents, 2 * AgentCount);
                Array.Resize(ref motions, 2 * AgentCount);
                Array.Resize(ref tags, 2 * AgentCount);
                Array.Resize(ref stamps, 2 * AgentCount);
            }
            places.Add(id, AgentCount);
            come.Add(id);
            return AgentCount++;
        }

        // The last agent takes its place.
        private void Remove(int place)
        {
            places.Remove(agents[place].Id);
            AgentCount--;
            if (place < AgentCount)
            {
                agents[place] = agents[AgentCount];
                motions[place] = motions[AgentCount];
                tags[place] = tags[AgentCount];
                stamps[place] = stamps[AgentCount];
                places[agents[place].Id] = place;
            }
        }

        private void Leave()
        {
            int rows, place;
            PackReader reader = Open(Entry.Leave, 2, out rows);
            for (int i = 0; i < rows; i++)
            {
                var one = new Gone { Id = reader.TakeUInt(), Reason = (LeaveReason)reader.TakeInt() };
                if (places.TryGetValue(one.Id, out place))
                {
                    Remove(place);
                    gone.Add(one);
                }
            }
        }

        private void Classify()
        {
            int rows, place;
            PackReader reader = Open(Entry.Classes, 2, out rows);
            for (int i = 0; i < rows; i++)
            {
                long id = reader.TakeUInt();
                int number = reader.TakeInt();
                if (places.TryGetValue(id, out place))
                {
                    agents[place].Class = number;
                }
            }
        }

        // For each agent: id, heading, speed, count of waypoints, and x, y of each waypoint.
        private void SetMotions()
        {
            int left, place;
            PackReader reader = Open(Entry.Motion, 1, out left);
            while (left > 0)
            {
                long id = reader.TakeUInt();
                var motion = new Motion { Heading = reader.TakeInt(), Speed = reader.TakeInt() / 1000f };
                int count = reader.TakeInt();
                left -= 4 + 2 * count;
                for (int i = 0; i < count; i++)
                {
                    ulong x = (ulong)reader.TakeInt() & 0xffff, y = (ulong)reader.TakeInt() & 0xffff;
                    if (i < WaypointsMax)
                    {
                        motion.Xs |= x << 16 * i;
                        motion.Ys |= y << 16 * i;
                        motion.Count++;
                    }
                }
                if (places.TryGetValue(id, out place))
                {
                    motions[place] = motion;
                }
            }
        }

        // `tagged` has each agent and the size of its tag, `tags` the bytes of all tags.
        private void SetTags()
        {
            int rows, place;
            PackReader reader = Open(Entry.Tagged, 2, out rows);
            if (rows == 0)
            {
                return;
            }
            if (!Has(Entry.Tags))
            {
                throw new ProtocolException("tags without bytes");
            }
            var bytes = new PackReader(message, at[(int)Entry.Tags]);
            int left = bytes.TakeTextHead(), from = bytes.At;
            for (int i = 0; i < rows; i++)
            {
                long id = reader.TakeUInt();
                int size = reader.TakeInt();
                if (size > left)
                {
                    throw new ProtocolException("tags that are cut short");
                }
                if (places.TryGetValue(id, out place))
                {
                    tags[place] = size == 0 ? null : new byte[size];
                    Array.Copy(message, from, tags[place] ?? noBytes, 0, size);
                }
                from += size;
                left -= size;
            }
        }

        private static readonly byte[] noBytes = new byte[0];

        private void Move()
        {
            int rows, place;
            PackReader reader = Open(Entry.Moved, 4, out rows);
            for (int i = 0; i < rows; i++)
            {
                long id = reader.TakeUInt();
                int x = reader.TakeInt(), y = reader.TakeInt(), state = reader.TakeInt();
                if (places.TryGetValue(id, out place))
                {
                    agents[place].X = x;
                    agents[place].Y = y;
                    agents[place].State = (AgentState)state;
                }
            }
        }

        private void Build()
        {
            int rows;
            PackReader reader = Open(Entry.Buildings, 6, out rows);
            if (buildings.Length < rows)
            {
                buildings = new Building[rows];
            }
            for (int i = 0; i < rows; i++)
            {
                buildings[i] = new Building
                {
                    Number = reader.TakeUInt(), Team = reader.TakeInt(), X = reader.TakeInt(),
                    Y = reader.TakeInt(), Width = reader.TakeInt(), Height = reader.TakeInt(),
                };
            }
            BuildingCount = rows;
        }

        // ---- telling ---------------------------------------------------------------------------

        private void Tell(bool isKeyframe)
        {
            bool isReplaced = isKeyframe || Has(Entry.Rect);
            if (isReplaced && Replaced != null)
            {
                Replaced(this);
            }
            if (!isReplaced && CellsChanged != null)
            {
                TellCells();
            }
            if (!isReplaced && SightChanged != null && HasSight)
            {
                TellSight();
            }
            for (int i = 0; i < gone.Count && Left != null; i++)
            {
                Left(this, gone[i].Id, gone[i].Reason);
            }
            for (int i = 0; i < come.Count && Entered != null; i++)
            {
                Entered(this, agents[places[come[i]]]);
            }
            if (Moved != null)
            {
                TellMoves(isKeyframe ? Entry.Agents : Entry.Moved, isKeyframe ? 5 : 4);
            }
            if (Tagged != null)
            {
                TellTags();
            }
            if ((isKeyframe || Has(Entry.Buildings)) && BuildingsChanged != null)
            {
                BuildingsChanged(this);
            }
            if (OrderEnded != null)
            {
                TellEnds();
            }
            if (Alerted != null)
            {
                TellAlerts();
            }
            if (Died != null)
            {
                TellDeaths();
            }
            if (Changed != null)
            {
                Changed(this);
            }
        }

        private void TellCells()
        {
            int rows;
            PackReader reader = Open(Entry.Cells, 4, out rows);
            for (int i = 0; i < rows; i++)
            {
                int x = reader.TakeInt(), y = reader.TakeInt();
                CellsChanged(this, x, y, reader.TakeInt());
                reader.Skip();
            }
        }

        // Row by row.
        private void TellSight()
        {
            int rows;
            PackReader reader = Open(Entry.Visible, 4, out rows);
            for (int i = 0; i < rows; i++)
            {
                int x = reader.TakeInt(), y = reader.TakeInt(), left = reader.TakeInt();
                reader.Skip();
                while (left > 0)
                {
                    int count = Math.Min(left, X + Width - x);
                    SightChanged(this, x, y++, count);
                    left -= count;
                    x = X;
                }
            }
        }

        // After a keyframe also for agents that stand where they stood: the client may have missed deltas.
        private void TellMoves(Entry entry, int width)
        {
            int rows, place;
            PackReader reader = Open(entry, width, out rows);
            for (int i = 0; i < rows; i++)
            {
                if (places.TryGetValue(reader.TakeUInt(), out place))
                {
                    Moved(this, agents[place]);
                }
                for (int skipped = 1; skipped < width; skipped++)
                {
                    reader.Skip();
                }
            }
        }

        private void TellTags()
        {
            int rows, place;
            PackReader reader = Open(Entry.Tagged, 2, out rows);
            for (int i = 0; i < rows; i++)
            {
                if (places.TryGetValue(reader.TakeUInt(), out place))
                {
                    Tagged(this, agents[place]);
                }
                reader.Skip();
            }
        }

        private void TellAlerts()
        {
            int rows;
            PackReader reader = Open(Entry.Alerts, 5, out rows);
            for (int i = 0; i < rows; i++)
            {
                Alerted(this, new Alert
                {
                    Order = reader.TakeUInt(), Agent = reader.TakeUInt(), Seen = reader.TakeUInt(),
                    X = reader.TakeInt(), Y = reader.TakeInt(),
                });
            }
        }

        private void TellDeaths()
        {
            int rows;
            PackReader reader = Open(Entry.Died, 1, out rows);
            for (int i = 0; i < rows; i++)
            {
                Died(this, reader.TakeUInt());
            }
        }

        private void TellEnds()
        {
            int rows;
            PackReader reader = Open(Entry.Ended, 5, out rows);
            for (int i = 0; i < rows; i++)
            {
                OrderEnded(this, new OrderEnded
                {
                    Order = reader.TakeUInt(), Agent = reader.TakeUInt(),
                    Reason = (OrderEnd)reader.TakeInt(), X = reader.TakeInt(), Y = reader.TakeInt(),
                });
            }
        }
    }
}

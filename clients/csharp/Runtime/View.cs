// View.cs: what a team sees, kept up to date by the server's keyframes and deltas (PROTOCOL.md, Views).
//
// A message is read in two passes: the first brings the view up to date, the second raises the events. So events
// find the whole view as of its tick, and one that throws leaves nothing half done. Both passes read the bytes in
// place. The view keeps its arrays from message to message, so it makes no garbage.

using System;
using System.Collections.Generic;

namespace Fogmarch
{
    /// <summary>A view. Client.Subscribe() makes it.</summary>
    public sealed partial class View
    {
        private const int CellsMax = 4096 * 4096;
        private const int WaypointsMax = 4;
        private const int HeadingUnknown = 8;

        // The entries of a message that are lists or rectangles; the others come by themselves.
        private enum Entry { Rect, Cells, Agents, Enter, Moved, Leave, Buildings, Classes, Ended, Motion, Tagged, Tags, Visible,
            Alerts, Died, Untold, Count }

        private static readonly string[] names =
        {
            "rect", "cells", "agents", "enter", "moved", "leave", "buildings", "classes", "ended", "motion",
            "tagged", "tags", "visible", "alerts", "died", "untold",
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
        private bool untold; // the message says so

        /// <summary>Of a view that is over: the node that has its world now, as HOST:PORT; null: none is known.</summary>
        public string MovedTo { get; internal set; }

        internal Client Client;
        internal readonly long[] Asked; // the rect asked for, or null
        internal readonly long Every;
        internal readonly bool HasMotion, HasSight;
        internal long Subscription, Stream;
        internal long AskedAt = -1; // when it was subscribed to, by the client's clock, if that has not been done yet
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

        /// <summary>More orders ended, or alerts came, than the server keeps for a view. Those that it kept come with
        /// the next message, the others never; AgentReport() tells which orders units still have.</summary>
        public event Action<View> Untold;

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
    }
}

// ViewTypes.cs: what a view shows, piece by piece.

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
}

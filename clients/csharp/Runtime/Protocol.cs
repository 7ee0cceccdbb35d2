// Protocol.cs: made by generate.py from proto/protocol.json. Change proto/protocol.def instead.

namespace Fogmarch
{
    /// <summary>The protocol's number.</summary>
    public static class Protocol
    {
        /// <summary>What hello says.</summary>
        public const long Number = 1;
    }

    /// <summary>What a cell is.</summary>
    public enum Terrain
    {
        /// <summary>unknown</summary>
        Unknown = 0,

        /// <summary>ground</summary>
        Ground = 1,

        /// <summary>out_of_bounds</summary>
        OutOfBounds = 2,

        /// <summary>trees</summary>
        Trees = 3,

        /// <summary>swamp</summary>
        Swamp = 4,

        /// <summary>water</summary>
        Water = 5,

        /// <summary>wall</summary>
        Wall = 6,

        /// <summary>building</summary>
        Building = 7,
    }

    /// <summary>What an agent does.</summary>
    public enum AgentState
    {
        /// <summary>idle</summary>
        Idle = 0,

        /// <summary>moving</summary>
        Moving = 1,

        /// <summary>waiting</summary>
        Waiting = 2,

        /// <summary>blocked</summary>
        Blocked = 3,

        /// <summary>holding</summary>
        Holding = 4,

        /// <summary>carried</summary>
        Carried = 5,
    }

    /// <summary>Why an order ended.</summary>
    public enum OrderEnd
    {
        /// <summary>arrived</summary>
        Arrived = 0,

        /// <summary>nearest_reached</summary>
        NearestReached = 1,

        /// <summary>unreachable</summary>
        Unreachable = 2,

        /// <summary>replaced</summary>
        Replaced = 3,

        /// <summary>cancelled</summary>
        Cancelled = 4,

        /// <summary>died</summary>
        Died = 5,

        /// <summary>out_of_memory</summary>
        OutOfMemory = 6,

        /// <summary>target_lost</summary>
        TargetLost = 7,

        /// <summary>target_died</summary>
        TargetDied = 8,

        /// <summary>explored</summary>
        Explored = 9,

        /// <summary>crowded</summary>
        Crowded = 10,

        /// <summary>deadline</summary>
        Deadline = 11,

        /// <summary>boarded</summary>
        Boarded = 12,
    }
}

// Errors.cs: what goes wrong.

using System;

namespace Fogmarch
{
    /// <summary>The server refused a request; nothing has changed.</summary>
    public sealed class RequestException : Exception
    {
        /// <summary>The status by its name, such as "denied"; see PROTOCOL.md.</summary>
        public readonly string Status;

        internal RequestException(string method, string status, string message)
            : base(method + ": " + message)
        {
            Status = status;
        }
    }

    /// <summary>The connection is over.</summary>
    public sealed class ConnectionException : Exception
    {
        internal ConnectionException(string message) : base(message) { }
    }

    /// <summary>The server's bytes do not follow the protocol. Client.Update() then ends the connection.</summary>
    internal sealed class ProtocolException : Exception
    {
        internal ProtocolException(string message) : base(message) { }
    }
}

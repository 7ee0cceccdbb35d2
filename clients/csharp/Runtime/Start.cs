// Start.cs: the addresses for the start, of which the first that answers hello is taken. The others stay known, for a
// search in a cluster (Follow.cs).

using System;
using System.Collections.Generic;
using System.Diagnostics;

namespace Fogmarch
{
    public sealed partial class Client
    {
        private const uint HelloId = 1;
        private const int HelloMs = 10000; // for a server to connect, and to answer hello
        private const int FrameMs = 250; // a longer frame counts as one of so long: the game stood still, not the server
        private int startAt; // which of `nodes` is asked for hello
        private long startedMs; // how long it has been asked
        private readonly Stopwatch sinceFrame = Stopwatch.StartNew();

        private void AddNodes(string first, IEnumerable<string> more)
        {
            nodes.Add(first);
            foreach (string address in more ?? new string[0])
            {
                string host;
                int port;
                if (!SplitAddress(address, out host, out port))
                {
                    throw new ArgumentException("'" + address + "' is not of the form HOST:PORT", "nodes");
                }
                if (!nodes.Contains(address))
                {
                    nodes.Add(address);
                }
            }
        }

        // "HOST:PORT" or "[IPV6]:PORT".
        private static bool SplitAddress(string address, out string host, out int port)
        {
            int colon = address == null ? -1 : address.LastIndexOf(':');
            port = 0;
            host = colon > 0 ? address.Substring(0, colon).Trim('[', ']') : "";
            return host != "" && int.TryParse(address.Substring(colon + 1), out port) && port >= 1 && port <= 65535;
        }

        // A server that accepts a connection and says nothing would hold the client for ever.
        private void WatchStart()
        {
            if (State != ClientState.Connecting)
            {
                return;
            }
            startedMs += Math.Min(sinceFrame.ElapsedMilliseconds, FrameMs);
            sinceFrame.Restart();
            if (startedMs > HelloMs)
            {
                throw new ConnectionException("the server at " + nodes[startAt] + " does not answer");
            }
        }

        // The connection is over, and no other node is looked for. While none has said hello, the next address is asked.
        private void NextStart(string reason)
        {
            string host;
            int port;
            if (State != ClientState.Connecting || startAt + 1 >= nodes.Count ||
                !SplitAddress(nodes[startAt + 1], out host, out port))
            {
                bool isFirst = startAt == 0 || State != ClientState.Connecting;
                End(isFirst ? reason : "no server answers at " + string.Join(", ", nodes) + "; the last: " + reason);
                return;
            }
            startAt++;
            startedMs = 0;
            link.Close();
            link = new Link(host, port, isSecret, trusts);
            link.Put(waiting[HelloId].Bytes);
        }
    }
}

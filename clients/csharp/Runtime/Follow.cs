// Follow.cs: a client of a cluster goes where its world is.
//
//   on a node ── it ends, is silent, or its world goes on elsewhere ──> seeking ── found ──> on a node
//                                                                             └── FollowMs are over ──> CLOSED
//
// A client is on one node at a time, and does not leave the world of a view for that of another one
// (clients/README.md, Views of several worlds). It asks the nodes that it knows where the world is (world.locate), repeatedly,
// with growing pauses. It asks each through a probe: a client of its own that does not follow. From the right one it
// takes over the link, subscribes to its views again, and sends requests without an answer again; commands have a
// command_id, so that each is carried out once. Update() does all this and never waits.

using System;
using System.Collections.Generic;
using System.Diagnostics;
using System.Threading;

namespace Fogmarch
{
    public sealed partial class Client
    {
        private const int NodePatienceMs = 2000; // for one node to answer, during a search
        private const int QuietMs = 1000; // after so long without a message it asks whether its node is there
        private const string Silent = "the node is silent";
        private const int GoneMs = 3000; // for how long all must deny the world: a new node knows of none yet
        private const int FirstMs = 5000; // so long only the oldest view's world is looked for, then others as well
        private const int PauseFirstMs = 50, PauseLastMs = 1000, NodesMax = 64;

        // Sent again without a command_id, these might be done twice, or name something that only one node has.
        private static readonly HashSet<string> once = new HashSet<string>
        {
            "map.upload", "replay.close", "replay.open", "replay.pause", "replay.play", "replay.seek", "save.download",
            "subscription.move", "token.create", "token.revoke", "unsubscribe", "debug.unsubscribe", "world.create",
            "world.destroy", "world.load", "world.save", "world.step",
        };

        private readonly List<string> nodes = new List<string>(); // the best guess first
        private readonly HashSet<string> refused = new HashSet<string>(); // nodes that refused hello in this search for good
        private bool isNode; // the server is a node of a cluster
        private bool wasRefused;
        private long command; // the last id
        private Stopwatch seeking; // null: it is on a node
        private readonly List<long> seekWorlds = new List<long>(); // the first of them is sought, then the others as well
        private long probeSince, pauseUntil, goneSince;
        private int seekAt, pauseMs, probeWorld; // that the probe is asked for: an index
        private string seekReason, probeAddress;
        private string guess, ticket; // from `moved`: the node where the world is, and the ticket for it
        private Client probe;
        private bool probeIsRight, probeAsked;
        private readonly Stopwatch quiet = Stopwatch.StartNew(); // since its node said something, or was asked
        private bool isPinged;
        private const int LargeRequest = 65536, SlowLine = 64; // bytes; bytes in a millisecond
        private long busyMs; // time that large requests take to be sent, on a slow line; the ping waits behind them
        private string left; // the node that it left last because of an answer
        private readonly Stopwatch sinceLeft = Stopwatch.StartNew();
        private int leftPause; // before it looked for the next one
        private string silent; // the node that it has left because it was silent
        private readonly List<Look> looks = new List<Look>();
        private long draftWorld, lastWorld; // the world that the request names, and the last one named
        private bool draftHasId;

        // The world of a view is not on this node, but may come, or be elsewhere.
        private sealed class Look
        {
            public View View;
            public bool HadIt;          // this node has had it, so when it knows no such world, there is none
            public bool IsAsked;        // world.locate is under way, or subscribe
            public bool Subscribes;     // subscribe is
            public string Refusal;      // of subscribe, by the node that has the world; or null
            public Stopwatch Since = Stopwatch.StartNew();
            public Stopwatch Denied;    // null: it is not
            public long Next;           // when to ask, by Since
            public int Pause = PauseFirstMs;
        }

        /// <summary>
        /// In a cluster: for how many milliseconds the client looks for the next node when its own dies or no longer
        /// has its world. Its views continue there, and each command is carried out once. With 0, or when no node is
        /// found, the client is closed. Without a cluster this has no effect. A client is on one node: a view whose world
        /// goes to another one, while other views stay, ends, and View.MovedTo is the address for another client.
        /// </summary>
        public int FollowMs { get; set; } = 30000;

        /// <summary>In a cluster: it is on another node now, see Address; views continue there.</summary>
        public event Action<Client> Followed;

        /// <summary>The server it is connected to now, as HOST:PORT.</summary>
        public string Address
        {
            get { return nodes[State == ClientState.Connecting ? startAt : 0]; }
        }

        // Until hello is answered, the server may be a node.
        private bool MayFollow
        {
            get { return Follows || (FollowMs > 0 && State == ClientState.Connecting); }
        }

        private bool Follows
        {
            get { return isNode && FollowMs > 0 && State != ClientState.Closed; }
        }

        // What a node's hello says about the other nodes.
        private void Settle(string address)
        {
            isNode = Welcome.Has("node") && Welcome.Text("node") != "";
            resume = Welcome.Text("resume");
            silent = null;
            Heard();
            nodes.Remove(address);
            nodes.Insert(0, address);
            Fields[] seeds = Welcome.Has("seeds") ? Welcome.Maps("seeds") : new Fields[0];
            for (int i = 0; i < seeds.Length; i++)
            {
                string seed = seeds[i].Text("tcp");
                if (seed != "" && !nodes.Contains(seed))
                {
                    nodes.Insert(1, seed);
                }
            }
            if (nodes.Count > NodesMax)
            {
                nodes.RemoveRange(NodesMax, nodes.Count - NodesMax);
            }
        }

        internal void NoteNumber(string name, long value)
        {
            draftWorld = name == "world" ? value : draftWorld;
            lastWorld = name == "world" ? value : lastWorld;
            draftHasId = draftHasId || name == "command_id";
        }

        // Gives a command its id, unless it has one.
        private void Prepare()
        {
            if (!MayFollow || draftHasId || !Commands.Contains(draftMethod))
            {
                return;
            }
            if (command == 0)
            {
                command = BitConverter.ToInt64(Guid.NewGuid().ToByteArray(), 8) & ((1L << 51) - 1);
            }
            draft.PutText("command_id");
            draft.PutUInt(++command);
            draftCount++;
        }

        private byte[] Kept()
        {
            if (!MayFollow)
            {
                return null;
            }
            var bytes = new byte[draft.Size];
            Buffer.BlockCopy(draft.Bytes, 0, bytes, 0, draft.Size);
            return bytes;
        }

        private void Heard()
        {
            quiet.Restart();
            isPinged = false;
        }

        private void NoteSize(int size)
        {
            busyMs += size > LargeRequest ? size / SlowLine : 0;
        }

        // A node that is frozen, or without power, does not disconnect. Called after reading.
        private void WatchNode()
        {
            if (!Follows || State != ClientState.Open || seeking != null)
            {
                return;
            }
            if (quiet.ElapsedMilliseconds > QuietMs && busyMs > 0)
            {
                busyMs = Math.Max(0, busyMs - quiet.ElapsedMilliseconds);
                Heard();
            }
            if (isPinged && quiet.ElapsedMilliseconds > NodePatienceMs)
            {
                silent = nodes[0];
                throw new ConnectionException(Silent);
            }
            if (!isPinged && quiet.ElapsedMilliseconds > QuietMs)
            {
                quiet.Restart();
                isPinged = true;
                var ping = new PackWriter();
                ping.BeginArray(4);
                ping.PutUInt(RequestType);
                ping.PutUInt(0); // nobody waits for its answer
                ping.PutText("ping");
                ping.BeginArray(1);
                ping.EndMap(ping.BeginMap(), 0);
                link.Put(ping);
            }
        }

        // Whether not to ask it yet: the others will soon say who has its worlds.
        private bool IsSilent(string address)
        {
            return address == silent && nodes.Count > 1 && seeking.ElapsedMilliseconds < NodePatienceMs;
        }

        // Whether to go to the node of a world: a client with views stays with their worlds.
        private bool MayGo(long world)
        {
            return Follows && world != 0 && living.TrueForAll(view => view.World == world);
        }

        // Whether an answer means that the request goes to another node.
        private bool Holds(uint id, Waiting wanted)
        {
            if (answer.Ok || !isNode || (wanted.View != null && wanted.View.State == ViewState.Ended))
            {
                return false;
            }
            string status = answer.Status;
            bool isLate = wanted.View != null && wanted.View.WasLive && IsNotHere(status);
            if ((status != "moved" && !isLate) || !MayGo(wanted.World) ||
                (wanted.View != null && HasAskedLong(wanted.View)))
            {
                return false;
            }
            wanted.Refused = true;
            waiting.Add(id, wanted);
            if (status == "moved")
            {
                NotePlace(answer.Error);
            }
            Seek(wanted.World, answer.Message);
            return true;
        }

        // Nodes that have a view's world, as they say, may refuse it as `moved` for ever.
        private bool HasAskedLong(View view)
        {
            int limit = view.WasLive ? FollowMs : TimeoutMs > 0 ? TimeoutMs : int.MaxValue;
            return view.AskedAt >= 0 && clock.ElapsedMilliseconds - view.AskedAt > limit;
        }

        // `moved` says where a world is, and has the ticket for that node.
        private void NotePlace(Fields moved)
        {
            if (seeking == null)
            {
                guess = moved.Has("tcp") && moved.Text("tcp") != "" ? moved.Text("tcp") : null;
                ticket = moved.Has("ticket") && moved.Text("ticket") != "" ? moved.Text("ticket") : null;
            }
        }

        // The connection is over. Returns whether another one is looked for.
        private bool Lost(string reason)
        {
            if (!Follows)
            {
                return false;
            }
            long world = living.Count > 0 ? living[0].World : lastWorld;
            Seek(world, reason, false);
            return true;
        }

        // Where the same node says so again and again, and has the world as others say: how long to wait before the next
        // search. Otherwise 0.
        private int PauseBefore()
        {
            bool again = left == nodes[0] && sinceLeft.ElapsedMilliseconds < GoneMs + leftPause;
            leftPause = again ? Math.Min(Math.Max(2 * leftPause, PauseFirstMs), PauseLastMs) : 0;
            left = nodes[0];
            sinceLeft.Restart();
            return leftPause;
        }

        // wasTold: the node has said that the world is not there.
        private void Seek(long world, string reason, bool wasTold = true)
        {
            if (seeking != null)
            {
                return;
            }
            seeking = Stopwatch.StartNew();
            seekWorlds.Clear();
            if (world != 0)
            {
                seekWorlds.Add(world);
            }
            foreach (View view in living)
            {
                if (!seekWorlds.Contains(view.World))
                {
                    seekWorlds.Add(view.World);
                }
            }
            seekReason = reason;
            seekAt = 0;
            goneSince = 0;
            pauseUntil = wasTold ? PauseBefore() : 0;
            pauseMs = PauseFirstMs;
            refused.Clear();
        }

        // ---- nodes -----------------------------------------------------------------------------

        private void UpdateSeek(int waitMs)
        {
            long now = seeking.ElapsedMilliseconds;
            if (now >= FollowMs || (IsGone(now) && seekWorlds.Count < 2))
            {
                GiveUp();
            }
            else if (now < pauseUntil)
            {
                Thread.Sleep((int)Math.Min(waitMs, pauseUntil - now));
            }
            else if (probe == null)
            {
                NextNode(now);
            }
            else
            {
                UpdateProbe(now, waitMs);
            }
        }

        private bool IsGone(long now)
        {
            return goneSince != 0 && now - goneSince > GoneMs;
        }

        private void GiveUp()
        {
            string sought = seekWorlds.Count == 0 ? "a node" : "the node of world " + seekWorlds[0];
            HangUp();
            End(sought + " was not found within " + seeking.ElapsedMilliseconds / 1000 + " s among " + nodes.Count +
                "; " + seekReason);
        }

        private void NextNode(long now)
        {
            if (guess != null)
            {
                string address = guess;
                guess = null;
                Ask(address, false, now);
                return;
            }
            while (seekAt < nodes.Count && (refused.Contains(nodes[seekAt]) || IsSilent(nodes[seekAt])))
            {
                seekAt++;
            }
            if (seekAt < nodes.Count)
            {
                Ask(nodes[seekAt++], false, now);
            }
            else if (refused.Count >= nodes.Count)
            {
                GiveUp();
            }
            else
            {
                seekAt = 0;
                pauseUntil = now + pauseMs;
                pauseMs = Math.Min(2 * pauseMs, PauseLastMs);
            }
        }

        private void Ask(string address, bool isRight, long now)
        {
            string host;
            int port;
            probeAddress = address;
            if (!SplitAddress(address, out host, out port))
            {
                Fail("no HOST:PORT", false);
                return;
            }
            probeIsRight = isRight;
            probeAsked = false;
            probeWorld = 0;
            probeSince = now;
            probe = new Client(host, port, token, name, resume, isSecret, trusts, ticket)
            {
                FollowMs = 0
            };
        }

        private void HangUp()
        {
            if (probe != null)
            {
                probe.Close();
                probe = null;
            }
        }

        private void Fail(string reason, bool isGone)
        {
            seekReason = probeAddress + ": " + reason;
            long now = seeking.ElapsedMilliseconds;
            goneSince = !isGone ? 0 : goneSince != 0 ? goneSince : Math.Max(now, 1);
            HangUp();
        }

        private void UpdateProbe(long now, int waitMs)
        {
            Client asked = probe;
            asked.Update(waitMs);
            if (probe != asked)
            {
                return; // its answer was the last
            }
            if (asked.State == ClientState.Closed)
            {
                if (asked.wasRefused)
                {
                    refused.Add(probeAddress);
                }
                Fail(asked.Reason, false);
            }
            else if (now - probeSince > NodePatienceMs)
            {
                Fail("no answer in time", false);
            }
            else if (asked.State == ClientState.Open && (probeIsRight || seekWorlds.Count == 0))
            {
                Adopt();
            }
            else if (asked.State == ClientState.Open && !probeAsked)
            {
                probeAsked = true;
                asked.WorldLocate(world: seekWorlds[probeWorld]).Send(OnLocated);
            }
        }

        private void OnLocated(Answer place)
        {
            long now = seeking.ElapsedMilliseconds;
            if (!place.Ok && probeWorld + 1 < seekWorlds.Count && (now > FirstMs || IsGone(now)))
            {
                probeWorld++;
                probeAsked = false;
            }
            else if (!place.Ok)
            {
                Fail(place.Message, place.Status == "no_world");
            }
            else if (place.Result.Bool("here"))
            {
                probeIsRight = true;
            }
            else
            {
                string address = place.Result.Text("tcp");
                HangUp();
                if (refused.Contains(address) || IsSilent(address))
                {
                    Fail(address + " has the world and " + (IsSilent(address) ? "is silent" : "refused this client"),
                         false);
                }
                else
                {
                    Ask(address, true, seeking.ElapsedMilliseconds);
                }
            }
        }

        // Goes on over the link of the probe.
        private void Adopt()
        {
            link.Close();
            link = probe.link;
            Welcome = probe.Welcome;
            probe.State = ClientState.Closed; // without its link
            probe = null;
            seeking = null;
            guess = ticket = null;
            looks.Clear();
            Settle(probeAddress);
            SubscribeAgain();
            foreach (uint id in SortedIds())
            {
                Repeat(id);
            }
            if (Followed != null)
            {
                Followed(this);
            }
        }

        private uint[] SortedIds()
        {
            var ids = new uint[waiting.Count];
            waiting.Keys.CopyTo(ids, 0);
            Array.Sort(ids);
            return ids;
        }

        private void SubscribeAgain()
        {
            foreach (uint id in SortedIds())
            {
                if (waiting[id].View != null)
                {
                    waiting.Remove(id);
                }
            }
            views.Clear();
            toSubscribe.Clear();
            foreach (View view in living.ToArray())
            {
                Subscribe(view, view.Stream != 0);
            }
        }

        private void Repeat(uint id)
        {
            Waiting wanted;
            if (!waiting.TryGetValue(id, out wanted) || wanted.View != null)
            {
                return; // it belonged to a view that was just subscribed to again
            }
            if (wanted.Bytes != null && (wanted.Refused || !once.Contains(wanted.Method)))
            {
                wanted.Refused = false;
                waiting[id] = wanted;
                link.Put(wanted.Bytes);
                return;
            }
            waiting.Remove(id);
            Deliver(id, wanted, Failure("io", "connection lost: " + wanted.Method + " may have been carried out, or not"),
                    false, default(Fields));
        }

        // ---- worlds that are not here ----------------------------------------------------------

        // Whether the same node may be asked the same again, after such an answer.
        private static bool IsForNow(string status)
        {
            return status == "busy" || status == "going_down";
        }

        // Whether a world may still come, after such an answer.
        private static bool IsNotHere(string status)
        {
            return status == "moved" || status == "not_ready" || status == "no_world";
        }

        private static bool HasPlace(Fields place)
        {
            return place.Has("tcp") && place.Text("tcp") != "";
        }

        // The world of a view is not on this node any more.
        private void Leave(Fields fields, bool isMoved)
        {
            View view;
            if (!views.TryGetValue(UIntOf(fields, "subscription"), out view))
            {
                return;
            }
            views.Remove(view.Subscription);
            if (view.State == ViewState.Ended)
            {
                return; // by the program
            }
            if (!isMoved && !Follows)
            {
                EndView(view, "the world has ended");
            }
            else if (!Follows || (HasPlace(fields) && !MayGo(view.World)))
            {
                EndMoved(view, fields);
            }
            else if (isMoved && MayGo(view.World))
            {
                NotePlace(fields);
                Seek(view.World, "the world is on another node now");
            }
            else
            {
                StopLooking(view); // it had come back, and the subscribe is not answered yet
                looks.Add(new Look { View = view, HadIt = !isMoved });
            }
        }

        private bool StopLooking(View view)
        {
            return looks.RemoveAll(look => look.View == view) > 0;
        }

        // A subscribe was refused.
        private void Refuse(View view, Answer given)
        {
            bool isMoved = given.Status == "moved" && HasPlace(given.Error);
            if (Follows && view.WasLive && !isMoved && !HasAskedLong(view) && (IsNotHere(given.Status) || IsForNow(given.Status)))
            {
                LookLater(view, given.Message);
            }
            else if (isMoved)
            {
                EndMoved(view, given.Error);
            }
            else
            {
                EndView(view, given.Message);
            }
        }

        // It is not here, or not now.
        private void LookLater(View view, string refusal)
        {
            Look look = looks.Find(one => one.View == view);
            if (look == null)
            {
                looks.Add(new Look { View = view });
                return;
            }
            look.IsAsked = look.Subscribes = false;
            look.Refusal = refusal;
            look.Next = look.Since.ElapsedMilliseconds + look.Pause;
        }

        private void UpdateLooks()
        {
            for (int i = 0; i < looks.Count && seeking == null; i++)
            {
                Look look = looks[i];
                if (!look.IsAsked && look.Since.ElapsedMilliseconds >= look.Next)
                {
                    look.IsAsked = true;
                    WorldLocate(world: look.View.World).Send(place => OnLooked(look, place));
                }
            }
        }

        private void OnLooked(Look look, Answer place)
        {
            if (!looks.Contains(look))
            {
                return; // it was found meanwhile, or ended
            }
            look.IsAsked = false;
            View view = look.View;
            bool isHere = place.Ok && place.Result.Bool("here");
            bool isDenied = !place.Ok && place.Status == "no_world";
            look.Denied = !isDenied ? null : look.Denied ?? Stopwatch.StartNew();
            look.Next = look.Since.ElapsedMilliseconds + look.Pause;
            look.Pause = Math.Min(2 * look.Pause, PauseLastMs);
            if (look.Since.ElapsedMilliseconds > FollowMs && isHere && look.Refusal != null)
            {
                EndView(view, look.Refusal);
            }
            else if (place.Ok && !isHere && MayGo(view.World))
            {
                NotePlace(place.Result);
                Seek(view.World, "the world is on another node now");
            }
            else if (place.Ok && !isHere && HasPlace(place.Result))
            {
                EndMoved(view, place.Result);
            }
            else if (isHere && (!look.HadIt || look.Since.ElapsedMilliseconds > GoneMs))
            {
                look.IsAsked = look.Subscribes = true;
                Subscribe(view, view.Stream != 0);
            }
            else if (isDenied && (look.HadIt || look.Denied.ElapsedMilliseconds > GoneMs))
            {
                EndView(view, "the world has ended");
            }
            else if (look.Since.ElapsedMilliseconds > FollowMs)
            {
                EndView(view, "the node of world " + view.World + " was not found");
            }
        }

        // Another node has the world, and the client stays.
        private void EndMoved(View view, Fields place)
        {
            string address = HasPlace(place) ? place.Text("tcp") : null;
            view.MovedTo = address;
            EndView(view, "world " + view.World + " is on another node now, " +
                          (address == null ? "and not known yet where" : "at " + address));
        }

        private void EndView(View view, string reason)
        {
            View known;
            if (views.TryGetValue(view.Subscription, out known) && known == view)
            {
                views.Remove(view.Subscription);
            }
            living.Remove(view);
            StopLooking(view);
            view.State = ViewState.Ended;
            view.TellEnd(reason);
        }
    }
}

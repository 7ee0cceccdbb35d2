// Client.cs: a session with a server, for a game loop.
//
//   CONNECTING ── connected, hello sent, and answered ──> OPEN ── Close(), the server, an error ──> CLOSED
//      │  ^└── no server at any address, a wrong token ────────────────────────────────────────────────^
//      └──┘ no answer: the next address
//
// Update(), called once a frame, sends what waits, reads what has come and calls the events, all on the caller's
// thread. It never waits. Keyframes, deltas and answers without a closure make no garbage.
//
// Threads: any one thread uses a client. There is no other, except the two that carry the bytes of TLS.

using System;
using System.Collections.Generic;
using System.Diagnostics;
using System.Net.Security;

namespace Fogmarch
{
    /// <summary>Where a client stands.</summary>
    public enum ClientState
    {
        /// <summary>Connecting; requests wait until it is open.</summary>
        Connecting,

        /// <summary>The server said hello.</summary>
        Open,

        /// <summary>Closed; Client.Reason says why.</summary>
        Closed,
    }

    /// <summary>A session with a server.</summary>
    public sealed partial class Client : IDisposable
    {
        private const int RequestType = 0, ResponseType = 1, NotificationType = 2;

        private struct Waiting
        {
            public string Method;
            public Action<Answer> Then; // or null
            public View View;           // the view that this subscribes to, or null
            public long World;          // the one that it names, or 0
            public byte[] Bytes;        // of the request, in a cluster, where it may have to be sent again
            public bool Refused;        // another node has the world, so nothing was done
            public long Deadline;       // by `clock`; of the call with all its repeats
            public int TimeoutMs;
        }

        private Link link;
        private readonly string token, name;
        private readonly bool isSecret;
        private readonly RemoteCertificateValidationCallback trusts;
        private string resume;
        private readonly PackWriter draft = new PackWriter();  // the request that is being written
        private readonly PackWriter early = new PackWriter();  // requests that wait for hello's answer
        private readonly Dictionary<uint, Waiting> waiting = new Dictionary<uint, Waiting>();
        private readonly Dictionary<long, View> views = new Dictionary<long, View>();
        private readonly List<View> living = new List<View>(); // that go on, the oldest first
        private readonly Queue<View> toSubscribe = new Queue<View>(); // the first of them is being answered
        private readonly Answer answer = new Answer();
        private readonly Stopwatch clock = Stopwatch.StartNew();
        private long earliest = long.MaxValue; // no deadline is earlier
        private uint last; // the last id
        private string draftMethod;
        private int draftMap; // where its map of parameters begins
        private int draftCount;
        private bool updating;
        private bool wasOpen; // it has been Open
        private uint awaited; // the id that Wait() waits for; 0: none
        private Answer kept;  // the answer to it
        private Action<Answer> keep;
        private readonly Action<Answer> subscribed, unsubscribed;

        /// <summary>
        /// For how many milliseconds a request without Wait() is waited for, with all its repeats in a cluster; then it
        /// fails with the status "timeout". 0: for ever.
        /// </summary>
        public int TimeoutMs { get; set; } = 30000;

        /// <summary>Where it stands.</summary>
        public ClientState State { get; private set; }

        /// <summary>Why it is closed; null while it is not.</summary>
        public string Reason { get; private set; }

        /// <summary>The answer to hello: role, world and team of the seat, and so on. See PROTOCOL.md.</summary>
        public Fields Welcome { get; private set; }

        /// <summary>The server said hello.</summary>
        public event Action<Client> Opened;

        /// <summary>The connection is over; the text says why. Raised once.</summary>
        public event Action<Client, string> Closed;

        /// <summary>A request without a function of its own was refused.</summary>
        public event Action<Answer> Refused;

        /// <summary>The server ends in so many milliseconds, and says why.</summary>
        public event Action<long, string> GoingDown;

        /// <summary>A notification that belongs to no view: its name and its parameters.</summary>
        public event Action<string, Fields> Notified;

        /// <summary>Begins to connect; Update() continues it.</summary>
        /// <param name="host">name or address</param>
        /// <param name="port">as in fogmarchd --listen</param>
        /// <param name="name">of the program, for the server's log</param>
        /// <param name="token">decides the role; null where the server wants none</param>
        /// <param name="resume">Welcome.Text("resume") of an earlier session whose connection broke, or null</param>
        /// <param name="tls">over TLS 1.2; the server's certificate is checked</param>
        /// <param name="trusts">decides about the certificate; null: the system does</param>
        /// <param name="ticket">from `moved` of another node, in place of a token; or null</param>
        /// <param name="nodes">more addresses, as HOST:PORT, for instance of a cluster's other nodes: asked in turn, where
        /// the first does not answer. ArgumentException: one of them has another form.</param>
        public Client(string host = "127.0.0.1", int port = 7421, string token = null,
                      string name = "fogmarch-csharp", string resume = null, bool tls = false,
                      RemoteCertificateValidationCallback trusts = null, string ticket = null,
                      IEnumerable<string> nodes = null)
        {
            subscribed = OnSubscribed;
            unsubscribed = OnUnsubscribed;
            this.token = token;
            this.name = name;
            this.resume = resume;
            this.trusts = trusts;
            isSecret = tls;
            AddNodes((host.Contains(":") ? "[" + host + "]" : host) + ":" + port, nodes);
            link = new Link(host, port, tls, trusts);
            Begin("hello").Set("protocol", Protocol.Number).Set("client", name).Set("token", token)
                .Set("resume", resume).Set("ticket", ticket).Send(OnHello);
        }

        /// <summary>Disconnects. Views keep what they show.</summary>
        public void Close()
        {
            waiting.Clear(); // the program does not ask any more
            End("closed by this program");
        }

        /// <summary>As Close().</summary>
        public void Dispose()
        {
            Close();
        }

        private void End(string reason)
        {
            if (State == ClientState.Closed)
            {
                return;
            }
            State = ClientState.Closed;
            Reason = reason;
            HangUp();
            link.Close();
            if (Closed != null)
            {
                Closed(this, reason);
            }
            FailAll();
        }

        // Each request is answered: by the end of the connection, if by nothing else. Those of views are not: Resume()
        // continues them.
        private void FailAll()
        {
            looks.Clear();
            foreach (uint id in SortedIds())
            {
                Waiting wanted;
                if (!waiting.TryGetValue(id, out wanted))
                {
                    continue; // Update() inside of an event
                }
                waiting.Remove(id);
                if (wanted.View == null && id != HelloId && (wanted.Then == null || wanted.Then != keep))
                {
                    string what = !wasOpen ? " was not sent: " + Reason : " may have been carried out, or not";
                    Deliver(id, wanted, Failure("io", "connection lost: " + wanted.Method + what), false, default(Fields));
                }
            }
        }

        // ---- requests --------------------------------------------------------------------------

        /// <summary>Begins a request by the name of its method; Methods.cs has functions for all of them.</summary>
        public Request Begin(string method)
        {
            draft.Size = 0;
            draft.BeginArray(4);
            draft.PutUInt(RequestType);
            draft.PutUInt(++last);
            draft.PutText(method);
            draft.BeginArray(1);
            draftMap = draft.BeginMap();
            draftMethod = method;
            draftCount = 0;
            draftWorld = 0;
            draftHasId = false;
            return new Request(this, last);
        }

        private readonly long[] cell = new long[2];

        /// <summary>x, y as a list for one parameter of one request. The list is used again: no garbage.</summary>
        public long[] Cell(long x, long y)
        {
            cell[0] = x;
            cell[1] = y;
            return cell;
        }

        internal PackWriter DraftOf(uint id)
        {
            if (id != last || draftMethod == null)
            {
                throw new InvalidOperationException("another request has been begun, or this one is sent");
            }
            draftCount++;
            return draft;
        }

        internal void Send(uint id, Action<Answer> then, View view)
        {
            Send(id, then, view, view == null && TimeoutMs > 0 ? TimeoutMs : int.MaxValue);
        }

        private void Send(uint id, Action<Answer> then, View view, int timeoutMs)
        {
            if (id != last || draftMethod == null)
            {
                throw new InvalidOperationException("another request has been begun, or this one is sent");
            }
            if (State == ClientState.Closed)
            {
                throw new ConnectionException(Reason);
            }
            Prepare();
            draft.EndMap(draftMap, draftCount);
            NoteSize(draft.Size);
            waiting.Add(id, new Waiting { Method = draftMethod, Then = then, View = view, World = draftWorld,
                                          Bytes = Kept(), TimeoutMs = timeoutMs,
                                          Deadline = clock.ElapsedMilliseconds + timeoutMs });
            earliest = Math.Min(earliest, clock.ElapsedMilliseconds + timeoutMs);
            draftMethod = null;
            if (seeking != null)
            {
                return; // sent when a node is found
            }
            if (State == ClientState.Open || id == HelloId)
            {
                link.Put(draft);
            }
            else
            {
                early.Put(draft);
            }
        }

        internal Fields Wait(uint id, int timeoutMs)
        {
            if (updating)
            {
                throw new InvalidOperationException("an event may not wait");
            }
            keep = keep ?? Keep;
            Send(id, keep, null, timeoutMs);
            awaited = id;
            kept = null;
            while (kept == null && State != ClientState.Closed)
            {
                Update(10);
            }
            awaited = 0;
            if (kept == null)
            {
                throw new ConnectionException(Reason);
            }
            if (!kept.Ok && kept.Status == TimeoutStatus)
            {
                throw new TimeoutException(kept.Message);
            }
            if (!kept.Ok)
            {
                throw new RequestException(kept.Method, kept.Status, kept.Message);
            }
            return kept.Result;
        }

        private void Keep(Answer given)
        {
            if (awaited == answerId) // otherwise it comes too late
            {
                kept = new Answer { Method = given.Method, Ok = given.Ok, Result = given.Result.Copy(),
                                    Error = given.Error.Copy() };
            }
        }

        private void OnHello(Answer given)
        {
            if (!given.Ok)
            {
                wasRefused = given.Status == "denied" || given.Status == "bad_value";
                End(given.Message);
                return;
            }
            State = ClientState.Open;
            wasOpen = true;
            Welcome = given.Result.Copy();
            Settle(nodes[startAt]);
            link.Put(early);
            early.Size = 0;
            BeginWaiting();
            if (Opened != null)
            {
                Opened(this);
            }
        }

        // ---- requests that take too long -------------------------------------------------------

        private const string TimeoutStatus = "timeout";
        private readonly List<uint> overdue = new List<uint>();

        // What was sent early is on its way from now on: the game may have stood still, as when it loads a scene.
        private void BeginWaiting()
        {
            foreach (uint id in SortedIds())
            {
                Waiting wanted = waiting[id];
                wanted.Deadline = id == awaited ? wanted.Deadline : clock.ElapsedMilliseconds + wanted.TimeoutMs;
                waiting[id] = wanted;
            }
        }

        private void Expire()
        {
            long now = clock.ElapsedMilliseconds;
            if (now < earliest)
            {
                return;
            }
            earliest = long.MaxValue;
            overdue.Clear();
            foreach (KeyValuePair<uint, Waiting> one in waiting)
            {
                if (one.Value.Deadline <= now && (State == ClientState.Open || one.Key == awaited))
                {
                    overdue.Add(one.Key);
                }
                earliest = Math.Min(earliest, one.Value.Deadline); // of one that is overdue too: an event may throw
            }
            overdue.Sort();
            for (int i = 0; i < overdue.Count && State != ClientState.Closed; i++)
            {
                Waiting wanted = waiting[overdue[i]];
                waiting.Remove(overdue[i]);
                Deliver(overdue[i], wanted, Failure(TimeoutStatus, "no answer to " + wanted.Method + " within " +
                                                    wanted.TimeoutMs + " ms"), false, default(Fields));
            }
        }

        // An error as a server sends it.
        private static Fields Failure(string status, string message)
        {
            var error = new PackWriter();
            int map = error.BeginMap();
            error.PutText("name");
            error.PutText(status);
            error.PutText("message");
            error.PutText(message);
            error.EndMap(map, 2);
            return new Fields(error.Bytes, 0);
        }

        // ---- views -----------------------------------------------------------------------------

        /// <summary>
        /// Subscribes to what a team sees; 0: a player's own team, for others everything. The first keyframe
        /// fills the view and raises its events.
        /// </summary>
        /// <param name="world">number of the world</param>
        /// <param name="team">number of the team, or 0</param>
        /// <param name="rect">x, y, width, height of the part that is wanted; null: all</param>
        /// <param name="every">at most one delta in so many ticks</param>
        /// <param name="motion">with how agents move: View.TryGetMotion()</param>
        /// <param name="sight">with which cells are visible now: View.FogAt()</param>
        public View Subscribe(long world, long team = 0, long[] rect = null, long every = 1, bool motion = false,
                              bool sight = false)
        {
            return Subscribe(new View(this, world, team, rect, every, motion, sight), false);
        }

        /// <summary>
        /// Continues a view of a session whose connection broke: with what it missed, or with a keyframe if the
        /// server no longer knows it. The view belongs to this client from now on.
        /// </summary>
        public View Resume(View view)
        {
            view.Client.views.Remove(view.Subscription);
            view.Client.living.Remove(view);
            view.Client = this;
            return Subscribe(view, view.Stream != 0);
        }

        private View Subscribe(View view, bool resumes)
        {
            view.Resumes = resumes;
            view.State = ViewState.Waiting;
            view.MovedTo = null;
            if (!living.Contains(view))
            {
                living.Add(view);
            }
            view.Subscription = 0;
            view.AskedAt = view.AskedAt < 0 ? clock.ElapsedMilliseconds : view.AskedAt;
            toSubscribe.Enqueue(view);
            if (toSubscribe.Count == 1)
            {
                SendSubscribe();
            }
            return view;
        }

        // One at a time: a keyframe may come before the answer, and names only its subscription.
        private void SendSubscribe()
        {
            while (toSubscribe.Count > 0 && toSubscribe.Peek().State == ViewState.Ended)
            {
                toSubscribe.Dequeue(); // by the program, meanwhile
            }
            if (toSubscribe.Count == 0)
            {
                return;
            }
            View view = toSubscribe.Peek();
            bool isMoved = view.Resumes && Follows && view.Width > 0;
            long[] rect = isMoved ? new long[] { view.X, view.Y, view.Width, view.Height } : view.Asked;
            Request request = Begin("subscribe").Set("world", view.World).Set("rect", rect)
                .Set("every", view.Every).Set("motion", view.HasMotion ? true : (bool?)null)
                .Set("sight", view.HasSight ? true : (bool?)null);
            if (view.Team != 0)
            {
                request.Set("team", view.Team);
            }
            if (view.Resumes)
            {
                request.Set("stream", view.Stream).Set("since", view.Tick);
            }
            Send(last, subscribed, view);
        }

        private void OnSubscribed(Answer given)
        {
            View view = toSubscribe.Dequeue();
            if (given.Ok)
            {
                view.Stream = given.Result.UInt("stream");
                view.Resumed = given.Result.Bool("resumed");
                view.WasLive = true;
                view.AskedAt = -1;
                looks.RemoveAll(look => look.View == view && look.Subscribes);
                Adopt(view, given.Result.UInt("subscription"));
            }
            SendSubscribe();
            if (view.State == ViewState.Ended)
            {
                if (given.Ok)
                {
                    SendUnsubscribe(view); // the program has ended it meanwhile
                }
            }
            else if (!given.Ok)
            {
                Refuse(view, given);
            }
        }

        private void Adopt(View view, long subscription)
        {
            view.Subscription = subscription;
            views[subscription] = view;
            view.State = view.Resumed && view.State != ViewState.Ended ? ViewState.Live : view.State;
        }

        internal void Unsubscribe(View view)
        {
            if (view.Client != this)
            {
                throw new InvalidOperationException("another client has the view");
            }
            bool isHere = !StopLooking(view) && !toSubscribe.Contains(view) && view.State != ViewState.Ended;
            living.Remove(view);
            view.State = ViewState.Ended; // later messages of it are dropped
            if (isHere)
            {
                SendUnsubscribe(view); // otherwise when the subscribe is answered
            }
        }

        // Ends a view and says why; its connection goes on.
        internal void Drop(View view, string reason)
        {
            Unsubscribe(view);
            view.TellEnd(reason);
        }

        private void SendUnsubscribe(View view)
        {
            Begin("unsubscribe").Set("subscription", view.Subscription);
            Send(last, unsubscribed, view);
        }

        private void OnUnsubscribed(Answer given)
        {
            views.Remove(answerView.Subscription);
        }

        private View ViewOf(long subscription)
        {
            View view;
            if (!views.TryGetValue(subscription, out view) && toSubscribe.Count > 0)
            {
                view = toSubscribe.Peek();
                Adopt(view, subscription);
            }
            return view;
        }

        // ---- what comes in ---------------------------------------------------------------------

        /// <summary>
        /// Sends what waits, reads what has come, raises the events. Call it once a frame. An exception in an event
        /// ends this call only: the next call continues after that event.
        /// </summary>
        /// <param name="waitMs">how long to wait for something to come, where there is nothing else to do</param>
        public void Update(int waitMs = 0)
        {
            if (updating)
            {
                throw new InvalidOperationException("Update() inside of an event");
            }
            if (State == ClientState.Closed)
            {
                FailAll(); // the rest, where an event has thrown
                return;
            }
            updating = true;
            try
            {
                if (seeking != null)
                {
                    UpdateSeek(waitMs);
                }
                else
                {
                    UpdateLooks();
                    UpdateLink(waitMs);
                    WatchStart();
                }
                Expire();
            }
            catch (ConnectionException error)
            {
                if (!Lost(error.Message))
                {
                    NextStart(error.Message);
                }
            }
            catch (ProtocolException error)
            {
                End(error.Message);
            }
            finally
            {
                updating = false;
            }
        }

        private void UpdateLink(int waitMs)
        {
            if (!link.IsConnected(waitMs))
            {
                return;
            }
            link.Flush();
            if (!TakeMessages() && waitMs > 0) // left by an exception in an event
            {
                link.Wait(waitMs);
            }
            while (State != ClientState.Closed && link.Read())
            {
                Heard();
                TakeMessages();
            }
            WatchNode();
            if (State != ClientState.Closed)
            {
                link.Flush();
            }
        }

        private bool TakeMessages()
        {
            PackReader message;
            bool any = false;
            while (State != ClientState.Closed && link.NextMessage(out message))
            {
                Take(message);
                any = true;
            }
            return any;
        }

        private void Take(PackReader message)
        {
            int size = message.TakeArray();
            long type = size == 0 ? -1 : message.TakeUInt();
            if (type == ResponseType && size == 4)
            {
                TakeAnswer(message);
            }
            else if (type == NotificationType && size == 3)
            {
                TakeNotification(message);
            }
            else
            {
                throw new ProtocolException("the server sent something else than answers and notifications");
            }
        }

        private uint answerId; // of the answer that is being delivered
        private View answerView;

        private void TakeAnswer(PackReader message)
        {
            Waiting wanted;
            answerId = (uint)message.TakeUInt();
            if (!waiting.TryGetValue(answerId, out wanted))
            {
                return;
            }
            waiting.Remove(answerId);
            var error = new Fields(message.Bytes, message.At);
            bool ok = message.TakeNil();
            if (!ok)
            {
                CheckKnown(error);
                message.Skip();
            }
            Fields result = ok ? new Fields(message.Bytes, message.At) : default(Fields);
            if (ok)
            {
                CheckResult(wanted.Method, result);
            }
            Deliver(answerId, wanted, error, ok, result);
        }

        private void Deliver(uint id, Waiting wanted, Fields error, bool ok, Fields result)
        {
            answerId = id;
            answerView = wanted.View;
            answer.Method = wanted.Method;
            answer.Error = error;
            answer.Ok = ok;
            answer.Result = result;
            if (Holds(id, wanted))
            {
                return;
            }
            Action<Answer> then = wanted.Then ?? (answer.Ok ? null : Refused);
            if (then != null)
            {
                then(answer);
            }
        }

        private void TakeNotification(PackReader message)
        {
            PackReader name = message;
            message.Skip();
            PackReader map = message;
            if (map.TakeArray() != 1)
            {
                throw new ProtocolException("the server sent a notification that is not one");
            }
            message = map;
            map.TakeMap(); // throws where it is none
            var fields = new Fields(message.Bytes, message.At);
            if (IsText(name, "keyframe") || IsText(name, "delta"))
            {
                View view = ViewOf(UIntOf(fields, "subscription"));
                if (view != null && view.State != ViewState.Ended)
                {
                    view.Take(message, IsText(name, "keyframe"));
                }
            }
            else
            {
                CheckKnown(fields);
                TakeOtherNotification(name, fields);
            }
        }

        // The reader is a copy, and stays where it is.
        private static bool IsText(PackReader text, string name)
        {
            return text.TakeName(name);
        }

        private void TakeOtherNotification(PackReader text, Fields fields)
        {
            string name = text.TakeText();
            if (name == "idle") // the server checks whether the client is alive
            {
                SayPing(UIntOf(fields, "time"));
            }
            else if (name == "world_ended")
            {
                Leave(fields, false);
            }
            else if (name == "moved")
            {
                Leave(fields, true);
            }
            else if (name == "going_down" && GoingDown != null)
            {
                GoingDown(UIntOf(fields, "in_ms"), TextOf(fields, "reason"));
            }
            else if (Notified != null)
            {
                Notified(name, fields);
            }
        }

        // ---- what messages hold ----------------------------------------------------------------

        private static readonly string[] knownNumbers = { "subscription", "world", "code" };
        private static readonly string[] knownTexts = { "name", "message", "node", "tcp", "http", "ticket" };

        // The entries of errors and notifications that the client itself reads. Throws ProtocolException.
        private static void CheckKnown(Fields fields)
        {
            foreach (string name in knownNumbers)
            {
                UIntOf(fields, name);
            }
            foreach (string name in knownTexts)
            {
                TextOf(fields, name);
            }
        }

        // What the client itself needs of a result. Throws ProtocolException.
        private static void CheckResult(string method, Fields result)
        {
            try
            {
                if (method == "hello")
                {
                    CheckKnown(result);
                    result.Text("resume");
                    foreach (Fields seed in result.Has("seeds") ? result.Maps("seeds") : new Fields[0])
                    {
                        seed.Text("tcp");
                    }
                }
                else if (method == "subscribe")
                {
                    result.UInt("subscription");
                    result.UInt("stream");
                    result.Bool("resumed");
                }
                else if (method == "world.locate" && !result.Bool("here"))
                {
                    CheckKnown(result);
                    result.Text("tcp");
                }
            }
            catch (Exception error) when (error is ProtocolException || error is KeyNotFoundException)
            {
                throw new ProtocolException("the server answered " + method + " with something else than its result");
            }
        }

        private static long UIntOf(Fields fields, string name)
        {
            return fields.Has(name) ? fields.UInt(name) : 0;
        }

        private static string TextOf(Fields fields, string name)
        {
            return fields.Has(name) ? fields.Text(name) : "";
        }

        private readonly PackWriter ping = new PackWriter();

        private void SayPing(long time)
        {
            ping.Size = 0;
            ping.BeginArray(3);
            ping.PutUInt(NotificationType);
            ping.PutText("ping");
            ping.BeginArray(1);
            int map = ping.BeginMap();
            ping.PutText("time");
            ping.PutUInt(time);
            ping.EndMap(map, 1);
            link.Put(ping);
        }
    }
}

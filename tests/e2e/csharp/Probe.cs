// Probe.cs: what the C# client shows, for e2e_csharp.py, which compares it with what the bytes say.
//
//   Probe PORT WORLD TEAM [CERTIFICATE]
//
// CERTIFICATE switches to TLS: the SHA-1 of the certificate to trust, or "system" for those that the system trusts.
//
// Commands come on standard input, one to a line; each is answered by one line of JSON:
//
//   until TICK       follows the view to this tick; answers all that it shows
//   rect X Y W H     moves the view's rectangle
//   garbage COUNT    follows it for COUNT messages and sends an order after each; answers how much was allocated
//   leak COUNT       the same, and allocates an object for each message
//   resume           drops the connection and resumes in a new session; answers `resumed`
//   hold             does nothing until the world has gone on without it
//
// A second model is built from the events alone; `agree` tells whether it equals the view.

using System;
using System.Collections.Generic;
using System.Net.Security;
using System.Text;
using Fogmarch;

static class Probe
{
    static int port;
    static Client client;
    static View view;
    static readonly Dictionary<long, Agent> agents = new Dictionary<long, Agent>();
    static int[] looks = new int[0];
    static Fog[] fogs = new Fog[0];
    static readonly StringBuilder alerts = new StringBuilder();
    static readonly StringBuilder died = new StringBuilder();
    static readonly StringBuilder boarded = new StringBuilder();
    static readonly Dictionary<long, byte[]> tags = new Dictionary<long, byte[]>();
    static readonly StringBuilder ended = new StringBuilder();
    static string end;
    static int messages, ends;
    static bool isMeasuring; // while set, the probe itself allocates nothing

    static void Main(string[] words)
    {
        port = int.Parse(words[0]);
        client = words.Length < 4 ? new Client("127.0.0.1", port, name: "probe")
                                  : new Client("127.0.0.1", port, name: "probe", tls: true, trusts: TrustOf(words[3]));
        Follow(client.Subscribe(long.Parse(words[1]), long.Parse(words[2]), motion: true, sight: true));
        string line;
        while ((line = Console.ReadLine()) != null)
        {
            string[] parts = line.Split(' ');
            Console.WriteLine(Answer(parts));
            Console.Out.Flush();
        }
    }

    static RemoteCertificateValidationCallback TrustOf(string hash)
    {
        return hash == "system" ? (RemoteCertificateValidationCallback)null
                                : (sender, certificate, chain, errors) => certificate.GetCertHashString() == hash;
    }

    static string Answer(string[] parts)
    {
        switch (parts[0])
        {
        case "until":
            Until(long.Parse(parts[1]));
            return Shown();
        case "rect":
            long[] rect = Array.ConvertAll(string.Join(" ", parts, 1, 4).Split(' '), long.Parse);
            client.SubscriptionMove(long.Parse(parts[5]), rect).Wait();
            return "{}";
        case "garbage":
            return Garbage(int.Parse(parts[1]), 0);
        case "leak":
            return Garbage(int.Parse(parts[1]), 1 << 10);
        case "resume":
            return Resume();
        default:
            return Refused();
        }
    }

    static void Until(long tick)
    {
        while ((view.Tick < tick || view.State == ViewState.Waiting) && end == null && client.State != ClientState.Closed)
        {
            client.Update(10);
        }
    }

    // ---- the model built from events ------------------------------------------------------------

    static void Follow(View one)
    {
        view = one;
        view.Replaced += v => CopyLooks(0, v.Width * v.Height, true);
        view.CellsChanged += (v, x, y, count) => CopyLooks((y - v.Y) * v.Width + x - v.X, count, false);
        view.SightChanged += (v, x, y, count) => CopyLooks((y - v.Y) * v.Width + x - v.X, count, false);
        view.Tagged += OnTagged;
        view.Alerted += OnAlerted;
        view.Died += (v, id) => died.AppendFormat("{0}{1}", died.Length == 0 ? "" : ",", id);
        view.Left += OnLeft;
        view.Entered += (v, agent) => agents.Add(agent.Id, agent);
        view.Moved += (v, agent) => agents[agent.Id] = agent;
        view.OrderEnded += OnOrderEnded;
        view.Ended += (v, reason) => end = reason;
        view.Changed += v => messages++;
    }

    static void OnOrderEnded(View one, OrderEnded order)
    {
        ends++;
        if (!isMeasuring)
        {
            ended.AppendFormat("{0}[{1},{2},{3},{4},{5}]", ended.Length == 0 ? "" : ",", order.Order, order.Agent,
                               (int)order.Reason, order.X, order.Y);
        }
    }

    static void OnLeft(View one, long id, LeaveReason reason)
    {
        tags.Remove(id);
        if (reason == LeaveReason.Boarded)
        {
            boarded.AppendFormat("{0}{1}", boarded.Length == 0 ? "" : ",", id);
        }
        Check(agents.Remove(id), "an agent leaves that was not there");
    }

    static void OnTagged(View one, Agent agent)
    {
        byte[] tag;
        tags.Remove(agent.Id);
        if (one.TryGetTag(agent.Id, out tag))
        {
            tags.Add(agent.Id, tag);
        }
    }

    static void OnAlerted(View one, Alert alert)
    {
        alerts.AppendFormat("{0}[{1},{2},{3},{4},{5}]", alerts.Length == 0 ? "" : ",", alert.Order, alert.Agent,
                            alert.Seen, alert.X, alert.Y);
    }

    static void CopyLooks(int at, int count, bool isNew)
    {
        if (isNew)
        {
            looks = new int[count];
            fogs = new Fog[count];
        }
        for (int i = at; i < at + count; i++)
        {
            looks[i] = view.Look(view.X + i % view.Width, view.Y + i / view.Width);
            fogs[i] = view.FogAt(view.X + i % view.Width, view.Y + i / view.Width);
        }
    }

    static void Check(bool condition, string text)
    {
        if (!condition)
        {
            throw new Exception(text);
        }
    }

    static bool Agree()
    {
        bool isSame = agents.Count == view.AgentCount && looks.Length == view.Width * view.Height;
        for (int i = 0; i < view.AgentCount && isSame; i++)
        {
            byte[] tag, told;
            view.TryGetTag(view.AgentAt(i).Id, out tag);
            tags.TryGetValue(view.AgentAt(i).Id, out told);
            isSame = agents[view.AgentAt(i).Id].Equals(view.AgentAt(i)) && tag == told;
        }
        for (int i = 0; i < looks.Length && isSame; i++)
        {
            isSame = looks[i] == view.Look(view.X + i % view.Width, view.Y + i / view.Width) &&
                     fogs[i] == view.FogAt(view.X + i % view.Width, view.Y + i / view.Width);
        }
        return isSame;
    }

    // ---- answers --------------------------------------------------------------------------------

    static string Shown()
    {
        var text = new StringBuilder("{");
        text.AppendFormat("\"tick\":{0},\"rect\":[{1},{2},{3},{4}],\"agree\":{5},\"end\":\"{6}\",\"looks\":[",
                          view.Tick, view.X, view.Y, view.Width, view.Height, Agree() ? "true" : "false",
                          end ?? client.Reason);
        for (int i = 0; i < view.Width * view.Height; i++)
        {
            text.AppendFormat("{0}{1}", i == 0 ? "" : ",", view.Look(view.X + i % view.Width, view.Y + i / view.Width));
        }
        text.Append("],\"agents\":[");
        for (int i = 0; i < view.AgentCount; i++)
        {
            Agent a = view.AgentAt(i);
            Agent found;
            Check(view.TryGetAgent(a.Id, out found) && found.Equals(a), "an agent is not found by its id");
            text.AppendFormat("{0}[{1},{2},{3},{4},{5},{6}]", i == 0 ? "" : ",", a.Id, a.Team, a.X, a.Y, (int)a.State,
                              a.Class);
        }
        text.Append("],\"buildings\":[");
        for (int i = 0; i < view.BuildingCount; i++)
        {
            Building b = view.BuildingAt(i);
            text.AppendFormat("{0}[{1},{2},{3},{4},{5},{6}]", i == 0 ? "" : ",", b.Number, b.Team, b.X, b.Y, b.Width,
                              b.Height);
        }
        text.Append("],\"motions\":[");
        string comma = "";
        for (int i = 0; i < view.AgentCount; i++)
        {
            Motion m;
            long id = view.AgentAt(i).Id;
            if (view.TryGetMotion(id, out m))
            {
                text.AppendFormat("{0}[{1},{2},{3}", comma, id, m.Heading, Math.Round(1000 * m.Speed));
                for (int k = 0; k < m.Count; k++)
                {
                    text.AppendFormat(",{0},{1}", (int)(2 * m.X(k)), (int)(2 * m.Y(k)));
                }
                text.Append("]");
                comma = ",";
            }
        }
        text.Append("],\"visible\":[");
        comma = "";
        for (int i = 0; i < view.Width * view.Height; i++)
        {
            if (view.FogAt(view.X + i % view.Width, view.Y + i / view.Width) == Fog.Visible)
            {
                text.AppendFormat("{0}[{1},{2}]", comma, view.X + i % view.Width, view.Y + i / view.Width);
                comma = ",";
            }
        }
        text.Append("],\"tags\":[");
        comma = "";
        for (int i = 0; i < view.AgentCount; i++)
        {
            byte[] tag;
            if (view.TryGetTag(view.AgentAt(i).Id, out tag))
            {
                text.AppendFormat("{0}[{1},[{2}]]", comma, view.AgentAt(i).Id, string.Join(",", tag));
                comma = ",";
            }
        }
        text.AppendFormat("],\"alerts\":[{0}],\"died\":[{1}],\"ended\":[{2}],\"boarded\":[{3}]}}", alerts, died, ended, boarded);
        return text.ToString();
    }

    static long Allocated()
    {
        return GC.GetAllocatedBytesForCurrentThread();
    }

    static object kept;
    static int refused, given;

    static void OnAnswer(Answer answer)
    {
        given += answer.Ok ? 1 : 0;
        refused += answer.Ok ? 0 : 1;
    }

    // Messages, each followed by an order, with the same arrays and the same delegate.
    static string Garbage(int count, int leak)
    {
        Action<Answer> then = OnAnswer;
        var chosen = new List<long>();
        for (int i = 0; i < view.AgentCount && i < 50; i++)
        {
            chosen.Add(view.AgentAt(i).Id);
        }
        string text = "";
        isMeasuring = true;
        for (int round = 0; round < 2; round++) // buffers grow in the first
        {
            GC.Collect();
            int collections = GC.CollectionCount(0), begin = messages, last = messages;
            long bytes = Allocated();
            while (messages - begin < count && client.State != ClientState.Closed)
            {
                client.Update(10);
                if (messages != last)
                {
                    last = messages;
                    kept = leak > 0 ? new byte[leak] : kept;
                    client.AgentOrder(view.World, chosen, "move", goal: client.Cell(3 + last % 40, 5)).Send(then);
                }
            }
            bytes = Allocated() - bytes;
            text = string.Format("{{\"messages\":{0},\"bytes\":{1},\"collections\":{2},\"given\":{3},\"refused\":{4},\"ends\":{5}}}",
                                 messages - begin, bytes, GC.CollectionCount(0) - collections, given, refused, ends);
        }
        isMeasuring = false;
        return text;
    }

    static string Resume()
    {
        string secret = client.Welcome.Text("resume");
        Client before = client;
        before.Close();
        client = new Client("127.0.0.1", port, name: "probe", resume: secret);
        client.Resume(view);
        Until(0);
        return string.Format("{{\"session\":{0},\"view\":{1}}}", client.Welcome.Bool("resumed") ? "true" : "false",
                             view.Resumed ? "true" : "false");
    }

    // Errors that reach a waiting caller, a callback, or nobody; and a connection to no server.
    static string Refused()
    {
        string waited = "", heard = "", unheard = "", none = "", inside = "";
        try
        {
            client.WorldInfo(world: 77).Wait();
        }
        catch (RequestException error)
        {
            waited = error.Status;
        }
        client.Refused += answer => unheard = answer.Method;
        client.WorldInfo(world: 78).Send(answer => heard = answer.Status);
        client.AgentOrder(view.World, new long[] { 999999 }, "stop").Send();
        client.Ping().Send(answer =>
        {
            try
            {
                client.Ping().Wait();
            }
            catch (InvalidOperationException error)
            {
                inside = error.Message;
            }
        });
        client.Ping().Wait();
        for (int i = 0; i < 500 && unheard.Length == 0; i++)
        {
            client.Update(10); // the world may answer the order later
        }
        var other = new Client("127.0.0.1", 1);
        other.Closed += (c, reason) => none = reason;
        while (other.State != ClientState.Closed)
        {
            other.Update(10);
        }
        return string.Format("{{\"waited\":\"{0}\",\"heard\":\"{1}\",\"unheard\":\"{2}\",\"inside\":\"{3}\",\"none\":\"{4}\"}}",
                             waited, heard, unheard, inside, none);
    }
}

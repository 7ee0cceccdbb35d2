// Watch.cs: watches worlds, with the C# library, see cluster_views.py.  Watch ADDRESS WORLDS OPTION

using System;
using System.Collections.Generic;
using Fogmarch;

static class Watch
{
    static int Main(string[] words)
    {
        string[] nodes = words[0].Split(',');
        string[] parts = nodes[0].Split(':');
        Client client;
        try
        {
            client = new Client(parts[0], int.Parse(parts[1]), nodes: nodes);
        }
        catch (ArgumentException error)
        {
            Tell("{{\"closed\": \"{0}\"}}", error.Message.Split('\n')[0]);
            return 0;
        }
        var views = new List<View>();
        bool isBrief = words[2] == "brief" || words[2] == "never";
        client.TimeoutMs = isBrief ? 1500 : client.TimeoutMs;
        client.FollowMs = isBrief ? 4000 : client.FollowMs;
        client.Refused += answer => Tell("{{\"refused\": \"{0}\"}}", answer.Message);
        foreach (string world in words[1].Split(','))
        {
            View view = client.Subscribe(long.Parse(world), 0, words[2] == "rect" ? new long[] { 4, 4, 8, 8 } : null);
            views.Add(view);
            view.Changed += changed => Tell("{{\"view\": {0}, \"tick\": {1}, \"node\": \"{2}\", \"agents\": [{3}]}}",
                                            changed.World, changed.Tick, client.Address, AgentsOf(changed));
            view.Untold += one => Tell("{{\"untold\": {0}}}", one.World);
            view.Ended += (ended, why) => Tell("{{\"view\": {0}, \"ended\": \"{1}\", \"at\": \"{2}\"}}", ended.World, why,
                                               ended.MovedTo);
            if (words[2] == "early" && views.Count == 1)
            {
                view.Unsubscribe();
                Tell("{{\"dropped\": true}}");
                continue;
            }
            while (view.State == ViewState.Waiting && client.State != ClientState.Closed)
            {
                client.Update(10);
            }
        }
        if (words[2] == "drop")
        {
            views[0].Unsubscribe();
            Tell("{{\"dropped\": true}}");
        }
        if (words[2] == "call" || words[2] == "brief")
        {
            client.WorldInfo(world: views[0].World).Send(answer => Tell(answer.Ok ? "{{\"called\": true}}" : "{{\"late\": \"{0}\"}}",
                                                                        answer.Message));
        }
        while (client.State != ClientState.Closed)
        {
            client.Update(10);
            if (words[2] == "next" && client.Address != words[0] && views.Count == 2)
            {
                views[0].Unsubscribe();
                views.RemoveAt(0);
            }
        }
        Tell("{{\"closed\": \"{0}\"}}", client.Reason);
        return 0;
    }

    static string AgentsOf(View view)
    {
        var ids = new List<string>();
        for (int i = 0; i < view.AgentCount; i++)
        {
            ids.Add(view.AgentAt(i).Id.ToString());
        }
        return string.Join(", ", ids);
    }

    static void Tell(string format, params object[] values)
    {
        Console.WriteLine(string.Format(format, values));
        Console.Out.Flush();
    }
}

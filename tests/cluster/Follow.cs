// Follow.cs: a follower on the C# library, see cluster_follow.py.  Follow ADDRESS WORLD AGENT

using System;
using Fogmarch;

static class Follow
{
    const int Before = 5, After = 10; // orders

    static int Main(string[] words)
    {
        string[] parts = words[0].Split(':');
        long world = long.Parse(words[1]), agent = long.Parse(words[2]);
        var client = new Client(parts[0], int.Parse(parts[1]), name: "follow-csharp");
        View view = client.Subscribe(world);
        int answers = 0, left = After, refused = 0;
        string here = null;
        int moves = 0; // times it followed its world: after a move, and after its node died
        client.Refused += answer => refused++;
        int told = 0;
        client.Followed += c => told++;
        while (left > 0)
        {
            // A queued request and one with a waiting caller: both must be sent again.
            client.AgentOrder(world, new[] { agent }, "move", goal: client.Cell(answers % 60, answers * 7 % 60))
                .Send(answer => refused += answer.Ok ? 0 : 1);
            client.AgentOrder(world, new[] { agent }, "move", goal: client.Cell(answers % 60, 1)).Wait();
            answers += 2;
            if (answers == 2 * Before)
            {
                Tell("{\"ready\": true}");
            }
            here = here ?? client.Address; // the node to which it was redirected
            if (client.Address != here)
            {
                here = client.Address;
                if (++moves > told)
                {
                    Console.Error.WriteLine("it is on another node, and Followed did not say so");
                    return 1;
                }
                if (moves == 1)
                {
                    Tell("{\"moved\": true}");
                }
            }
            left -= moves == 2 ? 1 : 0;
        }
        Tell("{\"done\": true}");
        long pausedAt = long.Parse(Console.ReadLine());
        while (view.Tick < pausedAt || view.State == ViewState.Waiting)
        {
            client.Update(10);
            if (client.State == ClientState.Closed)
            {
                Console.Error.WriteLine(client.Reason);
                return 1;
            }
        }
        Agent shown;
        view.TryGetAgent(agent, out shown);
        Tell(string.Format("{{\"answers\": {0}, \"address\": \"{1}\", \"tick\": {2}, \"cell\": [{3}, {4}]}}", answers,
                           client.Address, view.Tick, shown.X, shown.Y));
        client.Close();
        return refused;
    }

    static void Tell(string line)
    {
        Console.WriteLine(line);
        Console.Out.Flush();
    }
}

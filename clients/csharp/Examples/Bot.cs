// Bot.cs: makes a world with ten units, sends them across it, follows them until they are there, and destroys it.

using System;
using Fogmarch;

static class Bot
{
    static int Main(string[] words)
    {
        try
        {
            March(words.Length > 0 ? int.Parse(words[0]) : 7421);
            return 0;
        }
        catch (Exception error) when (error is ConnectionException || error is RequestException)
        {
            Console.Error.WriteLine("bot: {0}", error.Message);
            return 1;
        }
    }

    static void March(int port)
    {
        using (var client = new Client("127.0.0.1", port, name: "bot"))
        {
            Fields made = client.WorldCreate("bot", generator: "skirmish", width: 64, height: 64, players: 2,
                                             occupancy: "exclusive", tickHz: 30).Wait();
            long world = made.UInt("world");
            long[] bases = made.UInts("bases"); // x, y of each player's
            long team = client.TeamCreate(world).Wait().UInt("team");

            int ends = 0;
            View view = client.Subscribe(world, team);
            view.Changed += v => Console.WriteLine("tick {0} sees {1} agents", v.Tick, v.AgentCount);
            view.OrderEnded += (v, order) =>
            {
                ends++;
                Console.WriteLine("agent {0}: {1} at {2},{3}", order.Agent, order.Reason, order.X, order.Y);
            };

            var cells = new long[20];
            for (int i = 0; i < cells.Length; i++)
            {
                cells[i] = bases[i % 2];
            }
            long[] agents = client.AgentSpawn(world, team, cells, place: "nearest").Wait().UInts("agents");
            client.AgentOrder(world, agents, "move", goal: client.Cell(bases[2], bases[3]), spread: true).Wait();
            while (ends < agents.Length && client.State != ClientState.Closed)
            {
                client.Update(100); // a game calls Update() once a frame
            }
            client.WorldDestroy(world).Wait();
        }
    }
}

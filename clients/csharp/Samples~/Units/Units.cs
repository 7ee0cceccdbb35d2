// Units.cs: what a team sees, as a texture and cubes; a click sends all units there.
//
// Put it on an empty GameObject. Without a world it makes one to try things in; for that, every client of the
// server must be admin: fogmarchd on this machine, without tokens.

using System.Collections.Generic;
using Fogmarch;
using UnityEngine;

public sealed class Units : MonoBehaviour
{
    public string host = "127.0.0.1";
    public int port = 7421;
    public string token = "";
    public long world; // 0: make one
    public long team;
    public float cellsPerSecond = 12; // how fast cubes follow; a bit more than the world's ticks a second

    static readonly Color32[] terrainColours =
    {
        new Color32(20, 20, 28, 255),    // unknown
        new Color32(196, 184, 150, 255), // ground
        new Color32(0, 0, 0, 255),       // out of bounds
        new Color32(64, 110, 64, 255),   // trees
        new Color32(110, 120, 80, 255),  // swamp
        new Color32(70, 110, 170, 255),  // water
        new Color32(90, 90, 90, 255),    // wall
        new Color32(150, 90, 60, 255),   // building
    };
    static readonly Color[] teamColours = { Color.blue, Color.red, Color.yellow, Color.magenta };

    Client client;
    View view;
    Texture2D map;
    GameObject board;
    readonly Dictionary<long, GameObject> cubes = new Dictionary<long, GameObject>();
    readonly List<long> own = new List<long>();

    void Start()
    {
        Application.runInBackground = true;
        client = new Client(host, port, token == "" ? null : token, "unity");
        client.Closed += (c, reason) => Debug.LogWarning("fogmarch: " + reason);
        client.Refused += answer => Debug.LogWarning(answer.Method + ": " + answer.Message);
        client.Opened += c => Begin();
    }

    void Begin()
    {
        if (world != 0)
        {
            Follow();
            return;
        }
        string name = "unity-" + Random.Range(1, 1000000);
        client.WorldCreate(name, generator: "skirmish", width: 96, height: 96, players: 2,
                           occupancy: "exclusive").Send(made =>
        {
            if (!made.Ok)
            {
                Debug.LogWarning(made.Message);
                return;
            }
            world = made.Result.UInt("world");
            long[] bases = made.Result.UInts("bases"); // x, y of each player's
            client.TeamCreate(world).Send(answer =>
            {
                team = answer.Result.UInt("team");
                Follow();
                var cells = new List<long>();
                for (int i = 0; i < 20; i++)
                {
                    cells.Add(bases[0] - 2 + i % 5);
                    cells.Add(bases[1] - 2 + i / 5);
                }
                client.AgentSpawn(world, team, cells, place: "nearest").Send();
            });
        });
    }

    void Follow()
    {
        view = client.Subscribe(world, team);
        view.Replaced += OnReplaced;
        view.CellsChanged += (v, x, y, count) => Paint(x, y, count);
        view.Entered += OnEntered;
        view.Left += OnLeft;
        view.Changed += v => map.Apply();
        view.OrderEnded += (v, order) => Debug.Log("unit " + order.Agent + ": " + order.Reason);
        view.Ended += (v, reason) => Debug.LogWarning("fogmarch: " + reason);
    }

    // The server's y grows southward, Unity's upward.
    Vector3 PlaceOf(int x, int y)
    {
        return new Vector3(x + 0.5f, view.Y + view.Height - y - 0.5f, -0.5f);
    }

    void OnReplaced(View v)
    {
        if (map == null)
        {
            map = new Texture2D(v.Width, v.Height, TextureFormat.RGBA32, false) { filterMode = FilterMode.Point };
            board = GameObject.CreatePrimitive(PrimitiveType.Quad);
            board.transform.localScale = new Vector3(v.Width, v.Height, 1);
            board.transform.position = new Vector3(v.X + v.Width / 2f, v.Y + v.Height / 2f, 0);
            Renderer renderer = board.GetComponent<Renderer>();
            renderer.material = new Material(Shader.Find("Unlit/Texture"));
            renderer.material.mainTexture = map;
            Camera.main.orthographic = true;
            Camera.main.orthographicSize = v.Height / 2f;
            Camera.main.transform.position = board.transform.position + new Vector3(0, 0, -10);
            Camera.main.transform.rotation = Quaternion.identity;
        }
        for (int y = v.Y; y < v.Y + v.Height; y++)
        {
            Paint(v.X, y, v.Width);
        }
    }

    void Paint(int x, int y, int count)
    {
        for (int i = x; i < x + count; i++)
        {
            map.SetPixel(i - view.X, view.Y + view.Height - 1 - y, terrainColours[(int)view.TerrainAt(i, y)]);
        }
    }

    void OnEntered(View v, Agent agent)
    {
        GameObject cube = GameObject.CreatePrimitive(PrimitiveType.Cube);
        cube.transform.localScale = new Vector3(0.8f, 0.8f, 0.8f);
        cube.transform.position = PlaceOf(agent.X, agent.Y);
        cube.GetComponent<Renderer>().material.color = teamColours[(agent.Team - 1) % teamColours.Length];
        cubes[agent.Id] = cube;
        if (agent.Team == team)
        {
            own.Add(agent.Id);
        }
    }

    void OnLeft(View v, long id, LeaveReason reason)
    {
        Destroy(cubes[id]);
        cubes.Remove(id);
        own.Remove(id);
    }

    void Update()
    {
        client.Update(); // events are called from here
        for (int i = 0; view != null && i < view.AgentCount; i++)
        {
            Agent agent = view.AgentAt(i);
            Transform cube = cubes[agent.Id].transform;
            cube.position = Vector3.MoveTowards(cube.position, PlaceOf(agent.X, agent.Y), cellsPerSecond * Time.deltaTime);
        }
        if (map != null && own.Count > 0 && Input.GetMouseButtonDown(0))
        {
            Vector3 at = Camera.main.ScreenToWorldPoint(Input.mousePosition);
            long x = (long)at.x, y = view.Y + view.Height - 1 - (long)at.y;
            if (x >= view.X && x < view.X + view.Width && y >= view.Y && y < view.Y + view.Height)
            {
                client.AgentOrder(world, own, "move", goal: client.Cell(x, y), spread: true).Send();
            }
        }
    }

    void OnDestroy()
    {
        client.Close();
    }
}

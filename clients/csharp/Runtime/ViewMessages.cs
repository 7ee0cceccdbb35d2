// ViewMessages.cs: how a keyframe or a delta brings a view up to date. See View.cs.

using System;

namespace Fogmarch
{
    public sealed partial class View
    {
        // What is no keyframe or delta ends the view.
        internal void Take(PackReader reader, bool isKeyframe)
        {
            try
            {
                Apply(reader, isKeyframe);
            }
            catch (ProtocolException error)
            {
                Client.Drop(this, "the server sent a keyframe or a delta that is none: " + error.Message);
                return;
            }
            State = ViewState.Live;
            Tell(isKeyframe);
        }

        private void Apply(PackReader reader, bool isKeyframe)
        {
            Index(reader);
            stamp++;
            come.Clear();
            gone.Clear();
            if (isKeyframe)
            {
                Replace();
            }
            else
            {
                Change();
            }
            CheckNumbers(Entry.Ended, 5, 2); // what only events read
            CheckNumbers(Entry.Alerts, 5, 3);
            CheckNumbers(Entry.Died, 1, 1);
            untold = Has(Entry.Untold) && new PackReader(message, at[(int)Entry.Untold]).TakeBool();
        }

        // Each thing is so many numbers, and the first of them are ids.
        private void CheckNumbers(Entry entry, int width, int ids)
        {
            int rows;
            PackReader reader = Open(entry, width, out rows);
            for (int i = 0; i < rows * width; i++)
            {
                if (i % width < ids)
                {
                    reader.TakeUInt();
                }
                else
                {
                    reader.TakeInt();
                }
            }
        }

        // Finds where the message's entries are.
        private void Index(PackReader reader)
        {
            Array.Clear(at, 0, at.Length);
            bool hasTick = false;
            message = reader.Bytes;
            int count = reader.TakeMap();
            for (int i = 0; i < count; i++)
            {
                PackReader key = reader;
                int entry = 0;
                while (entry < names.Length && !IsKey(key, names[entry]))
                {
                    entry++;
                }
                bool isTick = IsKey(key, "tick");
                reader.Skip();
                if (isTick)
                {
                    PackReader tick = reader;
                    Tick = tick.TakeUInt();
                    hasTick = true;
                }
                else if (entry < names.Length)
                {
                    at[entry] = reader.At;
                }
                reader.Skip();
            }
            if (!hasTick)
            {
                throw new ProtocolException("no tick");
            }
        }

        private static bool IsKey(PackReader reader, string name)
        {
            return reader.TakeName(name);
        }

        private bool Has(Entry entry)
        {
            return at[(int)entry] != 0;
        }

        // The numbers of an entry; none if the message does not have it.
        private PackReader Open(Entry entry, int width, out int rows)
        {
            var reader = new PackReader(message, at[(int)entry]);
            int count = Has(entry) ? reader.TakeArray() : 0;
            if (count % width != 0)
            {
                throw new ProtocolException("a list that is cut short: " + names[(int)entry]);
            }
            rows = count / width;
            return reader;
        }

        private void Replace()
        {
            SetRect();
            FillCells();
            if (!Has(Entry.Agents))
            {
                throw new ProtocolException("no agents");
            }
            Enter(Entry.Agents);
            for (int i = AgentCount - 1; i >= 0; i--)
            {
                if (stamps[i] != stamp)
                {
                    gone.Add(new Gone { Id = agents[i].Id, Reason = LeaveReason.Outside });
                    Remove(i);
                }
            }
            Classify();
            SetMotions();
            SetTags();
            SeeAll();
            Build();
        }

        private void Change()
        {
            Leave();
            if (Has(Entry.Rect))
            {
                MoveRect();
            }
            Enter(Entry.Enter);
            Classify();
            SetMotions();
            SetTags();
            if (Has(Entry.Buildings))
            {
                Build();
            }
            Move();
            SetCells();
            See();
        }

        // ---- cells -----------------------------------------------------------------------------

        private void SetRect()
        {
            int rows;
            PackReader reader = Open(Entry.Rect, 4, out rows);
            if (rows != 1)
            {
                throw new ProtocolException("a view without a rectangle");
            }
            X = reader.TakeInt();
            Y = reader.TakeInt();
            Width = reader.TakeInt();
            Height = reader.TakeInt();
            if ((long)Width * Height > CellsMax)
            {
                throw new ProtocolException("a rectangle that is too large");
            }
            if (looks.Length < Width * Height)
            {
                looks = new ushort[Width * Height];
            }
            if (HasSight && visible.Length < Width * Height)
            {
                visible = new bool[Width * Height];
            }
        }

        private void FillCells()
        {
            int rows, place = 0;
            PackReader reader = Open(Entry.Cells, 2, out rows);
            for (int i = 0; i < rows; i++)
            {
                int count = reader.TakeInt();
                ushort look = (ushort)reader.TakeInt();
                if (count > Width * Height - place)
                {
                    throw new ProtocolException("more cells than the rectangle has");
                }
                for (int end = place + count; place < end; place++)
                {
                    looks[place] = look;
                }
            }
            if (place != Width * Height)
            {
                throw new ProtocolException("fewer cells than the rectangle has");
            }
        }

        // The rectangle has moved: cells that it did not show before are unknown.
        private void MoveRect()
        {
            int left = X, top = Y, width = Width, height = Height;
            ushort[] before = looks;
            looks = looksBefore;
            looksBefore = before;
            SetRect();
            Array.Clear(looks, 0, Width * Height);
            Array.Clear(visible, 0, visible.Length); // the same message has what is visible
            int first = Math.Max(X, left), end = Math.Min(X + Width, left + width);
            for (int y = Math.Max(Y, top); y < Math.Min(Y + Height, top + height) && first < end; y++)
            {
                Array.Copy(before, (y - top) * width + (first - left), looks, (y - Y) * Width + (first - X),
                           end - first);
            }
        }

        private void SetCells()
        {
            int rows;
            PackReader reader = Open(Entry.Cells, 4, out rows);
            for (int i = 0; i < rows; i++)
            {
                int x = reader.TakeInt() - X, y = reader.TakeInt() - Y, count = reader.TakeInt();
                ushort look = (ushort)reader.TakeInt();
                if (x < 0 || y < 0 || y >= Height || count > Width - x)
                {
                    throw new ProtocolException("cells outside of the rectangle");
                }
                int place = y * Width + x;
                for (int end = place + count; place < end; place++)
                {
                    looks[place] = look;
                }
            }
        }

        // ---- what is visible -------------------------------------------------------------------

        // From a keyframe: runs of cells that are not visible and runs that are, in turn.
        private void SeeAll()
        {
            int rows, place = 0;
            PackReader reader = Open(Entry.Visible, 1, out rows);
            Array.Clear(visible, 0, visible.Length);
            for (int i = 0; i < rows && HasSight; i++)
            {
                int count = reader.TakeInt();
                if (count > Width * Height - place)
                {
                    throw new ProtocolException("more cells than the rectangle has");
                }
                for (int end = place + count; place < end; place++)
                {
                    visible[place] = i % 2 == 1;
                }
            }
        }

        // A run continues at the beginning of the next row.
        private void See()
        {
            int rows;
            PackReader reader = Open(Entry.Visible, 4, out rows);
            for (int i = 0; i < rows && HasSight; i++)
            {
                int x = reader.TakeInt() - X, y = reader.TakeInt() - Y, count = reader.TakeInt();
                bool isVisible = reader.TakeInt() != 0;
                long place = (long)y * Width + x, end = place + count;
                if (x < 0 || y < 0 || x >= Width || end > (long)Width * Height)
                {
                    throw new ProtocolException("cells outside of the rectangle");
                }
                for (; place < end; place++)
                {
                    visible[place] = isVisible;
                }
            }
        }

        // ---- agents ----------------------------------------------------------------------------

        private void Enter(Entry entry)
        {
            int rows;
            PackReader reader = Open(entry, 5, out rows);
            for (int i = 0; i < rows; i++)
            {
                long id = reader.TakeUInt();
                int place = PlaceOf(id);
                agents[place] = new Agent
                {
                    Id = id, Team = reader.TakeInt(), X = reader.TakeInt(), Y = reader.TakeInt(),
                    State = (AgentState)reader.TakeInt(),
                };
                motions[place] = new Motion { Heading = HeadingUnknown };
                tags[place] = null;
                stamps[place] = stamp;
            }
        }

        private int PlaceOf(long id)
        {
            int place;
            if (places.TryGetValue(id, out place))
            {
                return place;
            }
            if (AgentCount == agents.Length)
            {
                Array.Resize(ref agents, 2 * AgentCount);
                Array.Resize(ref motions, 2 * AgentCount);
                Array.Resize(ref tags, 2 * AgentCount);
                Array.Resize(ref stamps, 2 * AgentCount);
            }
            places.Add(id, AgentCount);
            come.Add(id);
            return AgentCount++;
        }

        // The last agent takes its place.
        private void Remove(int place)
        {
            places.Remove(agents[place].Id);
            AgentCount--;
            if (place < AgentCount)
            {
                agents[place] = agents[AgentCount];
                motions[place] = motions[AgentCount];
                tags[place] = tags[AgentCount];
                stamps[place] = stamps[AgentCount];
                places[agents[place].Id] = place;
            }
        }

        private void Leave()
        {
            int rows, place;
            PackReader reader = Open(Entry.Leave, 2, out rows);
            for (int i = 0; i < rows; i++)
            {
                var one = new Gone { Id = reader.TakeUInt(), Reason = (LeaveReason)reader.TakeInt() };
                if (places.TryGetValue(one.Id, out place))
                {
                    Remove(place);
                    gone.Add(one);
                }
            }
        }

        private void Classify()
        {
            int rows, place;
            PackReader reader = Open(Entry.Classes, 2, out rows);
            for (int i = 0; i < rows; i++)
            {
                long id = reader.TakeUInt();
                int number = reader.TakeInt();
                if (!places.TryGetValue(id, out place))
                {
                    throw new ProtocolException("the class of an agent that is not in view");
                }
                agents[place].Class = number;
            }
        }

        // For each agent: id, heading, speed, count of waypoints, and x, y of each waypoint.
        private void SetMotions()
        {
            int left, place;
            PackReader reader = Open(Entry.Motion, 1, out left);
            while (left > 0)
            {
                if (left < 4)
                {
                    throw new ProtocolException("motion that is cut short");
                }
                long id = reader.TakeUInt();
                var motion = new Motion { Heading = reader.TakeInt(), Speed = reader.TakeInt() / 1000f };
                int count = reader.TakeInt();
                left -= 4;
                if (count > left / 2)
                {
                    throw new ProtocolException("motion that is cut short");
                }
                left -= 2 * count;
                for (int i = 0; i < count; i++)
                {
                    ulong x = (ulong)reader.TakeInt() & 0xffff, y = (ulong)reader.TakeInt() & 0xffff;
                    if (i < WaypointsMax)
                    {
                        motion.Xs |= x << 16 * i;
                        motion.Ys |= y << 16 * i;
                        motion.Count++;
                    }
                }
                if (places.TryGetValue(id, out place))
                {
                    motions[place] = motion;
                }
            }
        }

        // `tagged` has each agent and the size of its tag, `tags` the bytes of all tags.
        private void SetTags()
        {
            int rows, place;
            PackReader reader = Open(Entry.Tagged, 2, out rows);
            if (rows == 0)
            {
                return;
            }
            if (!Has(Entry.Tags))
            {
                throw new ProtocolException("tags without bytes");
            }
            var bytes = new PackReader(message, at[(int)Entry.Tags]);
            int left = bytes.TakeTextHead(), from = bytes.At;
            for (int i = 0; i < rows; i++)
            {
                long id = reader.TakeUInt();
                int size = reader.TakeInt();
                if (size > left)
                {
                    throw new ProtocolException("tags that are cut short");
                }
                if (places.TryGetValue(id, out place))
                {
                    tags[place] = size == 0 ? null : new byte[size];
                    Array.Copy(message, from, tags[place] ?? noBytes, 0, size);
                }
                from += size;
                left -= size;
            }
        }

        private static readonly byte[] noBytes = new byte[0];

        private void Move()
        {
            int rows, place;
            PackReader reader = Open(Entry.Moved, 4, out rows);
            for (int i = 0; i < rows; i++)
            {
                long id = reader.TakeUInt();
                int x = reader.TakeInt(), y = reader.TakeInt(), state = reader.TakeInt();
                if (places.TryGetValue(id, out place))
                {
                    agents[place].X = x;
                    agents[place].Y = y;
                    agents[place].State = (AgentState)state;
                }
            }
        }

        private void Build()
        {
            int rows;
            PackReader reader = Open(Entry.Buildings, 6, out rows);
            if (buildings.Length < rows)
            {
                buildings = new Building[rows];
            }
            for (int i = 0; i < rows; i++)
            {
                buildings[i] = new Building
                {
                    Number = reader.TakeUInt(), Team = reader.TakeInt(), X = reader.TakeInt(),
                    Y = reader.TakeInt(), Width = reader.TakeInt(), Height = reader.TakeInt(),
                };
            }
            BuildingCount = rows;
        }
    }
}

// ViewEvents.cs: raises the events of a message, when all of it has been applied. See View.cs.

using System;

namespace Fogmarch
{
    public sealed partial class View
    {
        private void Tell(bool isKeyframe)
        {
            bool isReplaced = isKeyframe || Has(Entry.Rect);
            if (isReplaced && Replaced != null)
            {
                Replaced(this);
            }
            if (!isReplaced && CellsChanged != null)
            {
                TellCells();
            }
            if (!isReplaced && SightChanged != null && HasSight)
            {
                TellSight();
            }
            for (int i = 0; i < gone.Count && Left != null; i++)
            {
                Left(this, gone[i].Id, gone[i].Reason);
            }
            for (int i = 0; i < come.Count && Entered != null; i++)
            {
                Entered(this, agents[places[come[i]]]);
            }
            if (Moved != null)
            {
                TellMoves(isKeyframe ? Entry.Agents : Entry.Moved, isKeyframe ? 5 : 4);
            }
            if (Tagged != null)
            {
                TellTags();
            }
            if ((isKeyframe || Has(Entry.Buildings)) && BuildingsChanged != null)
            {
                BuildingsChanged(this);
            }
            if (Untold != null && isKeyframe && untold)
            {
                Untold(this);
            }
            if (OrderEnded != null)
            {
                TellEnds();
            }
            if (Alerted != null)
            {
                TellAlerts();
            }
            if (Died != null)
            {
                TellDeaths();
            }
            if (Changed != null)
            {
                Changed(this);
            }
        }

        private void TellCells()
        {
            int rows;
            PackReader reader = Open(Entry.Cells, 4, out rows);
            for (int i = 0; i < rows; i++)
            {
                int x = reader.TakeInt(), y = reader.TakeInt();
                CellsChanged(this, x, y, reader.TakeInt());
                reader.Skip();
            }
        }

        // Row by row.
        private void TellSight()
        {
            int rows;
            PackReader reader = Open(Entry.Visible, 4, out rows);
            for (int i = 0; i < rows; i++)
            {
                int x = reader.TakeInt(), y = reader.TakeInt(), left = reader.TakeInt();
                reader.Skip();
                while (left > 0)
                {
                    int count = Math.Min(left, X + Width - x);
                    SightChanged(this, x, y++, count);
                    left -= count;
                    x = X;
                }
            }
        }

        // After a keyframe also for agents that stand where they stood: the client may have missed deltas.
        private void TellMoves(Entry entry, int width)
        {
            int rows, place;
            PackReader reader = Open(entry, width, out rows);
            for (int i = 0; i < rows; i++)
            {
                if (places.TryGetValue(reader.TakeUInt(), out place))
                {
                    Moved(this, agents[place]);
                }
                for (int skipped = 1; skipped < width; skipped++)
                {
                    reader.Skip();
                }
            }
        }

        private void TellTags()
        {
            int rows, place;
            PackReader reader = Open(Entry.Tagged, 2, out rows);
            for (int i = 0; i < rows; i++)
            {
                if (places.TryGetValue(reader.TakeUInt(), out place))
                {
                    Tagged(this, agents[place]);
                }
                reader.Skip();
            }
        }

        private void TellAlerts()
        {
            int rows;
            PackReader reader = Open(Entry.Alerts, 5, out rows);
            for (int i = 0; i < rows; i++)
            {
                Alerted(this, new Alert
                {
                    Order = reader.TakeUInt(), Agent = reader.TakeUInt(), Seen = reader.TakeUInt(),
                    X = reader.TakeInt(), Y = reader.TakeInt(),
                });
            }
        }

        private void TellDeaths()
        {
            int rows;
            PackReader reader = Open(Entry.Died, 1, out rows);
            for (int i = 0; i < rows; i++)
            {
                Died(this, reader.TakeUInt());
            }
        }

        private void TellEnds()
        {
            int rows;
            PackReader reader = Open(Entry.Ended, 5, out rows);
            for (int i = 0; i < rows; i++)
            {
                OrderEnded(this, new OrderEnded
                {
                    Order = reader.TakeUInt(), Agent = reader.TakeUInt(),
                    Reason = (OrderEnd)reader.TakeInt(), X = reader.TakeInt(), Y = reader.TakeInt(),
                });
            }
        }
    }
}

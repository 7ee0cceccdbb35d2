// TlsPipe.cs: TLS for Link. SslStream blocks, so two threads block in the caller's place, one that reads and one that
// writes. They share two buffers with the caller, under one lock, and call none of the game's code.

using System;
using System.IO;
using System.Net.Security;
using System.Net.Sockets;
using System.Security.Authentication;
using System.Threading;

namespace Fogmarch
{
    internal sealed class TlsPipe
    {
        private const int WaitingMax = 4 << 20; // bytes that wait in a buffer before the other side waits
        private const int PieceSize = 64 << 10;

        // Bytes that wait, under the lock.
        private struct Waiting
        {
            public byte[] Bytes;
            public int Size;

            public void Add(byte[] more, int at, int size)
            {
                if (Size + size > Bytes.Length)
                {
                    Array.Resize(ref Bytes, Math.Max(Size + size, 2 * Bytes.Length));
                }
                Buffer.BlockCopy(more, at, Bytes, Size, size);
                Size += size;
            }

            public int Take(byte[] to, int at, int room)
            {
                int size = Math.Min(room, Size);
                Buffer.BlockCopy(Bytes, 0, to, at, size);
                Size -= size;
                Buffer.BlockCopy(Bytes, size, Bytes, 0, Size);
                return size;
            }
        }

        private readonly object gate = new object();
        private readonly string host;
        private readonly SslStream stream;
        private Waiting came = new Waiting { Bytes = new byte[PieceSize] };
        private Waiting leaves = new Waiting { Bytes = new byte[PieceSize] };
        private bool isReady;
        private string end; // why it is over; null: it is not

        // The socket is connected and blocking; the pipe owns it from now on.
        public TlsPipe(Socket socket, string host, RemoteCertificateValidationCallback trusts)
        {
            this.host = host;
            stream = new SslStream(new NetworkStream(socket, true), false, trusts);
            Start(ReadAll);
        }

        private void Start(ThreadStart work)
        {
            new Thread(work) { IsBackground = true, Name = "fogmarch TLS" }.Start();
        }

        private void End(string reason)
        {
            lock (gate)
            {
                end = end ?? reason;
                Monitor.PulseAll(gate);
            }
        }

        // ---- the two threads -------------------------------------------------------------------

        private void ReadAll()
        {
            try
            {
                stream.AuthenticateAsClient(host, null, SslProtocols.Tls12, false);
                lock (gate)
                {
                    isReady = true;
                    Monitor.PulseAll(gate);
                }
                Start(WriteAll);
                var piece = new byte[PieceSize];
                int size;
                while ((size = stream.Read(piece, 0, piece.Length)) > 0)
                {
                    Keep(piece, size);
                }
                End("the server disconnected");
            }
            catch (AuthenticationException error)
            {
                End("no TLS with " + host + ": " + error.Message);
            }
            catch (Exception error) // a stream that was closed meanwhile throws many kinds
            {
                End((isReady ? "the server is gone: " : "no TLS with " + host + ": ") + error.Message);
            }
        }

        private void Keep(byte[] piece, int size)
        {
            lock (gate)
            {
                while (came.Size > WaitingMax && end == null)
                {
                    Monitor.Wait(gate);
                }
                came.Add(piece, 0, size);
                Monitor.PulseAll(gate);
            }
        }

        private void WriteAll()
        {
            var piece = new byte[PieceSize];
            try
            {
                for (int size = Next(piece); size > 0; size = Next(piece))
                {
                    stream.Write(piece, 0, size);
                }
            }
            catch (Exception error)
            {
                End("the server is gone: " + error.Message);
            }
        }

        // The bytes to write next; 0: the pipe has ended.
        private int Next(byte[] piece)
        {
            lock (gate)
            {
                while (leaves.Size == 0 && end == null)
                {
                    Monitor.Wait(gate);
                }
                int size = end == null ? leaves.Take(piece, 0, piece.Length) : 0;
                Monitor.PulseAll(gate);
                return size;
            }
        }

        // ---- the caller ------------------------------------------------------------------------

        /// <summary>Whether the handshake is done. Throws ConnectionException when it has failed.</summary>
        public bool IsReady(int waitMs)
        {
            lock (gate)
            {
                if (!isReady && end == null && waitMs > 0)
                {
                    Monitor.Wait(gate, waitMs);
                }
                if (end != null && !isReady)
                {
                    throw new ConnectionException(end);
                }
                return isReady;
            }
        }

        /// <returns>how many bytes were taken; 0: the server reads too slowly</returns>
        public int Send(byte[] bytes, int at, int size)
        {
            lock (gate)
            {
                size = Math.Min(size, WaitingMax - leaves.Size);
                if (size > 0)
                {
                    leaves.Add(bytes, at, size);
                    Monitor.PulseAll(gate);
                }
                return Math.Max(size, 0);
            }
        }

        /// <returns>how many bytes; 0: none now. Throws ConnectionException when no more will come.</returns>
        public int Receive(byte[] to, int at, int room)
        {
            lock (gate)
            {
                if (came.Size == 0 && end != null)
                {
                    throw new ConnectionException(end);
                }
                int size = came.Take(to, at, room);
                Monitor.PulseAll(gate);
                return size;
            }
        }

        public void Wait(int waitMs)
        {
            lock (gate)
            {
                if (came.Size == 0 && end == null)
                {
                    Monitor.Wait(gate, waitMs);
                }
            }
        }

        public void Close()
        {
            End("closed by this program");
            stream.Close();
        }
    }
}

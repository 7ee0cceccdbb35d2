// Link.cs: bytes to and from a server, without ever waiting: a socket, what came in and is not read
// yet, what is to go out. Both buffers grow as far as is needed, and are used again.

using System;
using System.Net.Sockets;

namespace Fogmarch
{
    internal sealed class Link
    {
        private const int MessageMax = 256 << 20; // bytes; a keyframe of the largest map has fewer
        private const int UnsentMax = 64 << 20;
        private const int PieceMin = 64 << 10; // room for what is read at once

        private readonly Socket socket = new Socket(SocketType.Stream, ProtocolType.Tcp);
        private readonly string host;
        private readonly int port;
        private IAsyncResult connecting;
        private byte[] input = new byte[PieceMin];
        private int begin, end; // of what is in `input` and not taken yet
        private PackScanner scanner;
        private readonly PackWriter output = new PackWriter();
        private int sent; // of `output`

        /// <summary>Begins to connect.</summary>
        public Link(string host, int port)
        {
            this.host = host;
            this.port = port;
            socket.NoDelay = true;
            connecting = socket.BeginConnect(host, port, null, null);
        }

        /// <summary>Whether it is connected. Throws ConnectionException when that has failed.</summary>
        public bool IsConnected(int waitMs)
        {
            if (connecting == null)
            {
                return true;
            }
            if (!connecting.IsCompleted && !(waitMs > 0 && connecting.AsyncWaitHandle.WaitOne(waitMs)))
            {
                return false;
            }
            try
            {
                socket.EndConnect(connecting);
            }
            catch (SocketException error)
            {
                throw new ConnectionException("no server at " + host + ":" + port + ": " + error.Message);
            }
            connecting = null;
            socket.Blocking = false;
            return true;
        }

        public void Close()
        {
            socket.Close();
        }

        // ---- out -------------------------------------------------------------------------------

        /// <summary>Takes a message that goes out with the next Flush().</summary>
        public void Put(PackWriter message)
        {
            if (output.Size - sent > UnsentMax)
            {
                throw new ConnectionException("the server does not read");
            }
            output.Put(message);
        }

        /// <summary>Sends what the system takes.</summary>
        public void Flush()
        {
            while (sent < output.Size)
            {
                SocketError error;
                int size = socket.Send(output.Bytes, sent, output.Size - sent, SocketFlags.None, out error);
                if (error == SocketError.WouldBlock)
                {
                    return;
                }
                if (error != SocketError.Success)
                {
                    throw new ConnectionException("the server is gone: " + error);
                }
                sent += size;
            }
            output.Size = sent = 0;
        }

        // ---- in --------------------------------------------------------------------------------

        /// <summary>Waits until something has come in, or could be sent that waits to be.</summary>
        public void Wait(int waitMs)
        {
            socket.Poll(waitMs * 1000, sent < output.Size ? SelectMode.SelectWrite : SelectMode.SelectRead);
        }

        private void MakeRoom()
        {
            if (begin > 0)
            {
                Buffer.BlockCopy(input, begin, input, 0, end - begin);
                end -= begin;
                begin = 0;
            }
            if (input.Length - end < PieceMin)
            {
                Array.Resize(ref input, input.Length * 2);
            }
        }

        /// <summary>Reads what the system has. What NextMessage() has told is no longer good then.</summary>
        /// <returns>whether there was any</returns>
        public bool Read()
        {
            MakeRoom();
            SocketError error;
            int size = socket.Receive(input, end, input.Length - end, SocketFlags.None, out error);
            if (error == SocketError.WouldBlock)
            {
                return false;
            }
            if (error != SocketError.Success)
            {
                throw new ConnectionException("the server is gone: " + error);
            }
            if (size == 0)
            {
                throw new ConnectionException("the server disconnected");
            }
            end += size;
            return true;
        }

        /// <summary>Takes the next message that is whole.</summary>
        /// <returns>false: there is none yet</returns>
        public bool NextMessage(out PackReader message)
        {
            message = new PackReader(input, begin);
            int size = scanner.Find(input, begin, end);
            if (size == 0 && end - begin > MessageMax)
            {
                throw new ProtocolException("a message that is too large");
            }
            begin += size;
            return size > 0;
        }
    }
}

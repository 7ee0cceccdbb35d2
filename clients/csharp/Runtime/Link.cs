// Link.cs: bytes to and from a server, without ever waiting: a socket, a buffer of bytes that came in and are not
// read yet, a buffer of bytes to send. Both buffers grow as needed and are used again. Over TLS a TlsPipe is between
// the socket and the buffers.

using System;
using System.Net.Security;
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
        private readonly bool isSecret;
        private readonly RemoteCertificateValidationCallback trusts;
        private IAsyncResult connecting;
        private TlsPipe pipe; // null: no TLS, or not yet
        private byte[] input = new byte[PieceMin];
        private int begin, end; // of the bytes in `input` that are not taken yet
        private PackScanner scanner;
        private readonly PackWriter output = new PackWriter();
        private int sent; // bytes of `output`

        /// <summary>Begins to connect.</summary>
        public Link(string host, int port, bool tls, RemoteCertificateValidationCallback trusts)
        {
            isSecret = tls;
            this.trusts = trusts;
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
                return pipe == null || pipe.IsReady(waitMs);
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
            socket.Blocking = isSecret;
            pipe = isSecret ? new TlsPipe(socket, host, trusts) : null;
            return !isSecret;
        }

        public void Close()
        {
            if (pipe != null)
            {
                pipe.Close();
            }
            socket.Close();
        }

        // ---- out -------------------------------------------------------------------------------

        /// <summary>Queues a message for the next Flush().</summary>
        public void Put(PackWriter message)
        {
            if (output.Size - sent > UnsentMax)
            {
                throw new ConnectionException("the server does not read");
            }
            output.Put(message);
        }

        /// <summary>The same, as bytes.</summary>
        public void Put(byte[] message)
        {
            output.PutRaw(message);
        }

        // How many bytes the system takes; 0: none now.
        private int Send()
        {
            if (pipe != null)
            {
                return pipe.Send(output.Bytes, sent, output.Size - sent);
            }
            SocketError error;
            int size = socket.Send(output.Bytes, sent, output.Size - sent, SocketFlags.None, out error);
            if (error != SocketError.Success && error != SocketError.WouldBlock)
            {
                throw new ConnectionException("the server is gone: " + error);
            }
            return error == SocketError.WouldBlock ? 0 : size;
        }

        /// <summary>Sends as much as the system takes.</summary>
        public void Flush()
        {
            while (sent < output.Size)
            {
                int size = Send();
                if (size == 0)
                {
                    return;
                }
                sent += size;
            }
            output.Size = sent = 0;
        }

        // ---- in --------------------------------------------------------------------------------

        /// <summary>Waits until bytes have come in, or waiting bytes can be sent.</summary>
        public void Wait(int waitMs)
        {
            if (pipe != null)
            {
                pipe.Wait(waitMs);
                return;
            }
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

        /// <summary>Reads what the system has. Messages that NextMessage() returned are invalid afterwards.</summary>
        /// <returns>whether there was any</returns>
        public bool Read()
        {
            MakeRoom();
            if (pipe != null)
            {
                int got = pipe.Receive(input, end, input.Length - end);
                end += got;
                return got > 0;
            }
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

        /// <summary>Takes the next complete message.</summary>
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

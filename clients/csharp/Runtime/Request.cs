// Request.cs: one request: what it says, what becomes of it.

using System;
using System.Collections.Generic;

namespace Fogmarch
{
    /// <summary>
    /// A request that is being written: Set() its parameters, then Send() or Wait(). Methods.cs has a
    /// function for each method that does the first part. One at a time in a client.
    /// </summary>
    public struct Request
    {
        private readonly Client client;
        private readonly uint id;

        internal Request(Client client, uint id)
        {
            this.client = client;
            this.id = id;
        }

        private PackWriter Draft(string name)
        {
            PackWriter draft = client.DraftOf(id);
            draft.PutText(name);
            return draft;
        }

        /// <summary>Sets a parameter. Those that are null are left out.</summary>
        public Request Set(string name, long value)
        {
            Draft(name).PutUInt(value);
            client.NoteNumber(name, value);
            return this;
        }

        /// <summary>Sets a parameter.</summary>
        public Request Set(string name, long? value)
        {
            return value.HasValue ? Set(name, value.Value) : this;
        }

        /// <summary>Sets a parameter.</summary>
        public Request Set(string name, double? value)
        {
            if (value.HasValue)
            {
                Draft(name).PutReal(value.Value);
            }
            return this;
        }

        /// <summary>Sets a parameter.</summary>
        public Request Set(string name, bool? value)
        {
            if (value.HasValue)
            {
                Draft(name).PutBool(value.Value);
            }
            return this;
        }

        /// <summary>Sets a parameter.</summary>
        public Request Set(string name, string value)
        {
            if (value != null)
            {
                Draft(name).PutText(value);
            }
            return this;
        }

        /// <summary>Sets a parameter.</summary>
        public Request Set(string name, byte[] value)
        {
            if (value != null)
            {
                Draft(name).PutBytes(value);
            }
            return this;
        }

        /// <summary>Sets a parameter. A long[] or a List of long that is kept costs no garbage.</summary>
        public Request Set(string name, IReadOnlyList<long> value)
        {
            if (value != null)
            {
                Draft(name).PutUInts(value);
            }
            return this;
        }

        /// <summary>
        /// Sends it with the next Client.Update(). `then` is called by a later one, with the answer; without
        /// it, Client.Refused gets errors.
        /// </summary>
        public void Send(Action<Answer> then = null)
        {
            client.Send(id, then, null);
        }

        /// <summary>
        /// Sends it and waits for the answer, for programs that have nothing else to do. Events are called
        /// meanwhile; they may not wait themselves.
        /// </summary>
        /// <exception cref="RequestException">the server refuses</exception>
        /// <exception cref="ConnectionException">the connection is over</exception>
        /// <exception cref="TimeoutException">there is no answer yet</exception>
        public Fields Wait(int timeoutMs = 30000)
        {
            return client.Wait(id, timeoutMs);
        }
    }

    /// <summary>What a request was answered. Good until the event that hands it out returns.</summary>
    public sealed class Answer
    {
        /// <summary>The method that was called.</summary>
        public string Method { get; internal set; }

        /// <summary>Whether the server did it.</summary>
        public bool Ok { get; internal set; }

        /// <summary>What it says; empty when it refused.</summary>
        public Fields Result { get; internal set; }

        internal Fields Error;

        /// <summary>Why not, as the name of a status.</summary>
        public string Status
        {
            get { return Ok ? "ok" : Error.Text("name"); }
        }

        /// <summary>Why not, as a sentence.</summary>
        public string Message
        {
            get { return Ok ? "" : Error.Text("message"); }
        }
    }
}

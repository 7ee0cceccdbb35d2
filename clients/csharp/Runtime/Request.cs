// Request.cs: one request and its answer.

using System;
using System.Collections.Generic;

namespace Fogmarch
{
    /// <summary>
    /// A request that is being written: Set() its parameters, then Send() or Wait(). The functions of
    /// Methods.cs set the parameters, one function for each method. A client writes one at a time.
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
        /// Sends it with the next Client.Update(). A later Update() calls `then` with the answer; without
        /// `then`, Client.Refused gets errors.
        /// </summary>
        public void Send(Action<Answer> then = null)
        {
            client.Send(id, then, null);
        }

        /// <summary>
        /// Sends it and waits for the answer, for programs that have nothing else to do. Events are called
        /// meanwhile; they must not call Wait() themselves.
        /// </summary>
        /// <exception cref="RequestException">the server refuses</exception>
        /// <exception cref="ConnectionException">the connection is over</exception>
        /// <exception cref="TimeoutException">there is no answer yet</exception>
        public Fields Wait(int timeoutMs = 30000)
        {
            return client.Wait(id, timeoutMs);
        }
    }

    /// <summary>The answer to a request. Valid until the event that hands it out returns.</summary>
    public sealed class Answer
    {
        /// <summary>The method that was called.</summary>
        public string Method { get; internal set; }

        /// <summary>Whether the server carried it out.</summary>
        public bool Ok { get; internal set; }

        /// <summary>The result; empty when the server refused.</summary>
        public Fields Result { get; internal set; }

        internal Fields Error;

        /// <summary>Why not, as the name of a status.</summary>
        public string Status
        {
            get { return Ok ? "ok" : Error.Has("name") ? Error.Text("name") : ""; }
        }

        /// <summary>Why not, as a sentence.</summary>
        public string Message
        {
            get { return Ok ? "" : Error.Has("message") ? Error.Text("message") : "the server gave no reason"; }
        }
    }
}

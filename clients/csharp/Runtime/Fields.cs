// Fields.cs: a map in a message, read in place by the names of its entries.

using System.Collections.Generic;

namespace Fogmarch
{
    /// <summary>
    /// A map that the server sent. A map from an event is valid until the event returns; one from
    /// Request.Wait() stays valid.
    /// </summary>
    public struct Fields
    {
        private readonly byte[] bytes; // null: an empty map
        private readonly int at;

        internal Fields(byte[] bytes, int at)
        {
            this.bytes = bytes;
            this.at = at;
        }

        internal Fields Copy()
        {
            if (bytes == null)
            {
                return this;
            }
            var reader = new PackReader(bytes, at);
            reader.Skip();
            var copy = new byte[reader.At - at];
            System.Buffer.BlockCopy(bytes, at, copy, 0, copy.Length);
            return new Fields(copy, 0);
        }

        // Where the value of an entry begins.
        private bool Find(string name, out PackReader reader)
        {
            reader = new PackReader(bytes, at);
            int count = bytes == null ? 0 : reader.TakeMap();
            for (int i = 0; i < count; i++)
            {
                if (reader.TakeName(name))
                {
                    return true;
                }
                reader.Skip();
            }
            return false;
        }

        private PackReader Get(string name)
        {
            PackReader reader;
            if (!Find(name, out reader))
            {
                throw new KeyNotFoundException("the server did not say '" + name + "'");
            }
            return reader;
        }

        /// <summary>Whether there is such an entry.</summary>
        public bool Has(string name)
        {
            PackReader reader;
            return Find(name, out reader);
        }

        /// <summary>A whole number. Throws KeyNotFoundException where there is no such entry; so do those below.</summary>
        public long UInt(string name)
        {
            return Get(name).TakeUInt();
        }

        /// <summary>A number.</summary>
        public double Real(string name)
        {
            return Get(name).TakeReal();
        }

        /// <summary>True or false.</summary>
        public bool Bool(string name)
        {
            return Get(name).TakeBool();
        }

        /// <summary>A text.</summary>
        public string Text(string name)
        {
            return Get(name).TakeText();
        }

        /// <summary>Bytes.</summary>
        public byte[] Bytes(string name)
        {
            PackReader reader = Get(name);
            var data = new byte[reader.TakeTextHead()];
            System.Buffer.BlockCopy(bytes, reader.At, data, 0, data.Length);
            return data;
        }

        /// <summary>An array of whole numbers.</summary>
        public long[] UInts(string name)
        {
            PackReader reader = Get(name);
            var numbers = new long[reader.TakeArray()];
            for (int i = 0; i < numbers.Length; i++)
            {
                numbers[i] = reader.TakeUInt();
            }
            return numbers;
        }

        /// <summary>An array of texts.</summary>
        public string[] Texts(string name)
        {
            PackReader reader = Get(name);
            var texts = new string[reader.TakeArray()];
            for (int i = 0; i < texts.Length; i++)
            {
                texts[i] = reader.TakeText();
            }
            return texts;
        }

        /// <summary>A map.</summary>
        public Fields Map(string name)
        {
            return new Fields(bytes, Get(name).At);
        }

        /// <summary>An array of maps.</summary>
        public Fields[] Maps(string name)
        {
            PackReader reader = Get(name);
            var maps = new Fields[reader.TakeArray()];
            for (int i = 0; i < maps.Length; i++)
            {
                maps[i] = new Fields(bytes, reader.At);
                reader.Skip();
            }
            return maps;
        }
    }
}

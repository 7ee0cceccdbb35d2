// PackWriter.cs: MessagePack, from values to bytes. One buffer, which grows and is used again.

using System;
using System.Collections.Generic;
using System.Text;

namespace Fogmarch
{
    internal sealed class PackWriter
    {
        public byte[] Bytes = new byte[4096];
        public int Size;

        private void Reserve(int more)
        {
            if (Size + more > Bytes.Length)
            {
                Array.Resize(ref Bytes, Math.Max(Size + more, Bytes.Length * 2));
            }
        }

        private void PutHead(byte head, ulong number, int size)
        {
            Reserve(1 + size);
            Bytes[Size++] = head;
            for (int shift = 8 * (size - 1); shift >= 0; shift -= 8)
            {
                Bytes[Size++] = (byte)(number >> shift);
            }
        }

        public void Put(PackWriter other)
        {
            Reserve(other.Size);
            Buffer.BlockCopy(other.Bytes, 0, Bytes, Size, other.Size);
            Size += other.Size;
        }

        /// <summary>What is packed already.</summary>
        public void PutRaw(byte[] message)
        {
            Reserve(message.Length);
            Buffer.BlockCopy(message, 0, Bytes, Size, message.Length);
            Size += message.Length;
        }

        public void PutBool(bool value)
        {
            PutHead(value ? (byte)0xc3 : (byte)0xc2, 0, 0);
        }

        /// <summary>A whole number from 0: the protocol has no negative ones.</summary>
        public void PutUInt(long value)
        {
            if (value < 0)
            {
                throw new ArgumentOutOfRangeException("value", "a number below 0");
            }
            if (value < 0x80)
            {
                PutHead((byte)value, 0, 0);
            }
            else if (value <= 0xff)
            {
                PutHead(0xcc, (ulong)value, 1);
            }
            else if (value <= 0xffff)
            {
                PutHead(0xcd, (ulong)value, 2);
            }
            else if (value <= 0xffffffffL)
            {
                PutHead(0xce, (ulong)value, 4);
            }
            else
            {
                PutHead(0xcf, (ulong)value, 8);
            }
        }

        public void PutReal(double value)
        {
            PutHead(0xcb, (ulong)BitConverter.DoubleToInt64Bits(value), 8);
        }

        public void PutText(string text)
        {
            int size = Encoding.UTF8.GetByteCount(text);
            if (size < 32)
            {
                PutHead((byte)(0xa0 | size), 0, 0);
            }
            else
            {
                PutHead(0xdb, (ulong)size, 4);
            }
            Reserve(size);
            Size += Encoding.UTF8.GetBytes(text, 0, text.Length, Bytes, Size);
        }

        public void PutBytes(byte[] data)
        {
            PutHead(0xc6, (ulong)data.Length, 4);
            Reserve(data.Length);
            Buffer.BlockCopy(data, 0, Bytes, Size, data.Length);
            Size += data.Length;
        }

        public void PutUInts(IReadOnlyList<long> numbers)
        {
            BeginArray(numbers.Count);
            for (int i = 0; i < numbers.Count; i++)
            {
                PutUInt(numbers[i]);
            }
        }

        public void BeginArray(int count)
        {
            if (count < 16)
            {
                PutHead((byte)(0x90 | count), 0, 0);
            }
            else
            {
                PutHead(0xdd, (ulong)count, 4);
            }
        }

        /// <summary>Begins a map whose count EndMap() writes.</summary>
        /// <returns>the argument for EndMap()</returns>
        public int BeginMap()
        {
            PutHead(0xde, 0, 2);
            return Size;
        }

        public void EndMap(int begin, int count)
        {
            Bytes[begin - 2] = (byte)(count >> 8);
            Bytes[begin - 1] = (byte)count;
        }
    }
}

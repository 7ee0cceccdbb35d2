// PackReader.cs: MessagePack, from bytes to values, read in place: only texts are copied.
//
// PackScanner finds where a message ends while it arrives, and looks at each byte once.
// PackReader walks over complete messages.

using System;
using System.Text;

namespace Fogmarch
{
    /// <summary>How far the first message of a buffer has been scanned. By default not at all.</summary>
    internal struct PackScanner
    {
        private int looked; // bytes
        private long done;  // complete values less announced ones: 1 at the end of the message

        /// <returns>bytes of the message; 0: it is not complete yet</returns>
        public int Find(byte[] bytes, int at, int end)
        {
            while (done < 1)
            {
                long size, children;
                if (!Measure(bytes, at + looked, end, out size, out children) ||
                    size > end - at - looked)
                {
                    return 0;
                }
                looked += (int)size;
                done += 1 - children;
            }
            int found = looked;
            this = default(PackScanner);
            return found;
        }

        private static ulong Number(byte[] bytes, int at, int size)
        {
            ulong number = 0;
            for (int i = 0; i < size; i++)
            {
                number = number << 8 | bytes[at + i];
            }
            return number;
        }

        // Size of a value without its children, and how many these are.
        private static bool Measure(byte[] bytes, int at, int end, out long size, out long children)
        {
            size = 1;
            children = 0;
            if (at >= end)
            {
                return false;
            }
            byte head = bytes[at];
            if (head < 0x80 || head >= 0xe0 || head == 0xc0 || head == 0xc2 || head == 0xc3)
            {
                return true;
            }
            if (head < 0x90)
            {
                children = 2 * (head & 15);
                return true;
            }
            if (head < 0xa0)
            {
                children = head & 15;
                return true;
            }
            if (head < 0xc0)
            {
                size = 1 + (head & 31);
                return true;
            }
            return MeasureLong(bytes, at, end, head, out size, out children);
        }

        private static bool MeasureLong(byte[] bytes, int at, int end, byte head, out long size,
                                        out long children)
        {
            children = 0;
            if (head >= 0xca && head <= 0xd3) // numbers
            {
                size = 1 + (head == 0xca ? 4 : head == 0xcb ? 8 : 1 << (head & 3));
                return true;
            }
            if (head >= 0xd4 && head <= 0xd8) // extensions of a fixed size
            {
                size = 2 + (1 << (head - 0xd4));
                return true;
            }
            int width = WidthOfCount(head);
            size = 1 + width;
            if (end - at < size)
            {
                return false;
            }
            long count = (long)Number(bytes, at + 1, width);
            if (head >= 0xdc)
            {
                children = head >= 0xde ? 2 * count : count;
            }
            else
            {
                size += count + (head >= 0xc7 && head <= 0xc9 ? 1 : 0);
            }
            return true;
        }

        // Bytes of the count that stands behind a head.
        private static int WidthOfCount(byte head)
        {
            switch (head)
            {
            case 0xc4: case 0xc7: case 0xd9:
                return 1;
            case 0xc5: case 0xc8: case 0xda: case 0xdc: case 0xde:
                return 2;
            case 0xc6: case 0xc9: case 0xdb: case 0xdd: case 0xdf:
                return 4;
            default:
                throw new ProtocolException("a byte that is no MessagePack");
            }
        }
    }

    /// <summary>Walks over complete values. Throws ProtocolException on a value of another type.</summary>
    internal struct PackReader
    {
        public readonly byte[] Bytes;
        public int At;

        public PackReader(byte[] bytes, int at)
        {
            Bytes = bytes;
            At = at;
        }

        private static ProtocolException Unexpected(string wanted)
        {
            return new ProtocolException("the server sent something else than " + wanted);
        }

        private ulong Take(int size)
        {
            ulong number = 0;
            for (int i = 0; i < size; i++)
            {
                number = number << 8 | Bytes[At++];
            }
            return number;
        }

        public bool TakeNil()
        {
            bool isNil = Bytes[At] == 0xc0;
            At += isNil ? 1 : 0;
            return isNil;
        }

        public long TakeUInt()
        {
            byte head = Bytes[At];
            if (head < 0x80)
            {
                At++;
                return head;
            }
            if (head < 0xcc || head > 0xcf)
            {
                throw Unexpected("a whole number");
            }
            At++;
            return (long)Take(1 << (head & 3));
        }

        /// <summary>A number that fits into 31 bits: cells, teams, counts.</summary>
        public int TakeInt()
        {
            long number = TakeUInt();
            if (number < 0 || number > int.MaxValue)
            {
                throw Unexpected("a small number");
            }
            return (int)number;
        }

        public double TakeReal()
        {
            byte head = Bytes[At];
            if (head == 0xcb)
            {
                At++;
                return BitConverter.Int64BitsToDouble((long)Take(8));
            }
            if (head == 0xca)
            {
                byte[] four = { Bytes[At + 4], Bytes[At + 3], Bytes[At + 2], Bytes[At + 1] };
                At += 5;
                return BitConverter.ToSingle(BitConverter.IsLittleEndian ? four : Reversed(four), 0);
            }
            return TakeUInt();
        }

        private static byte[] Reversed(byte[] bytes)
        {
            Array.Reverse(bytes);
            return bytes;
        }

        public bool TakeBool()
        {
            byte head = Bytes[At++];
            if (head != 0xc2 && head != 0xc3)
            {
                throw Unexpected("true or false");
            }
            return head == 0xc3;
        }

        /// <returns>size of a text or binary; At moves to its first byte</returns>
        public int TakeTextHead()
        {
            byte head = Bytes[At++];
            if (head >= 0xa0 && head < 0xc0)
            {
                return head & 31;
            }
            switch (head)
            {
            case 0xc4: case 0xd9:
                return (int)Take(1);
            case 0xc5: case 0xda:
                return (int)Take(2);
            case 0xc6: case 0xdb:
                return (int)Take(4);
            default:
                throw Unexpected("a text");
            }
        }

        public string TakeText()
        {
            int size = TakeTextHead();
            At += size;
            return Encoding.UTF8.GetString(Bytes, At - size, size);
        }

        /// <returns>whether the next value, a text in ASCII, is this one; it is consumed either way</returns>
        public bool TakeName(string name)
        {
            int size = TakeTextHead();
            bool isSame = size == name.Length;
            for (int i = 0; i < size && isSame; i++)
            {
                isSame = Bytes[At + i] == name[i];
            }
            At += size;
            return isSame;
        }

        public int TakeArray()
        {
            byte head = Bytes[At++];
            if (head >= 0x90 && head < 0xa0)
            {
                return head & 15;
            }
            if (head != 0xdc && head != 0xdd)
            {
                throw Unexpected("an array");
            }
            return (int)Take(head == 0xdc ? 2 : 4);
        }

        public int TakeMap()
        {
            byte head = Bytes[At++];
            if (head >= 0x80 && head < 0x90)
            {
                return head & 15;
            }
            if (head != 0xde && head != 0xdf)
            {
                throw Unexpected("a map");
            }
            return (int)Take(head == 0xde ? 2 : 4);
        }

        public void Skip()
        {
            At += new PackScanner().Find(Bytes, At, Bytes.Length);
        }
    }
}

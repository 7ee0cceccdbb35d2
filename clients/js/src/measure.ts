// How long the first msgpack value of some bytes is, without decoding it.

/**
 * The size of the value that `bytes` begin with. When they end before the value does: a lower bound of
 * its size that is larger than `bytes`.
 */
export function messageSize(bytes: Uint8Array): number {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  let at = 0;
  let values = 1; // still to come
  while (values > 0) {
    if (at >= bytes.length) {
      return at + values;
    }
    const head = headAt(view, at);
    if (head === undefined) {
      return Math.max(bytes.length + 1, at + 2);
    }
    at += head.size;
    values += head.values - 1;
  }
  return at;
}

// The size of a value without its children, and the number of its children; undefined: bytes are missing.
function headAt(view: DataView, at: number): { size: number; values: number } | undefined {
  const tag = view.getUint8(at);
  const left = view.byteLength - at;
  const fixed = (size: number) => ({ size, values: 0 });
  const sized = (width: 1 | 2 | 4, extra: number) =>
    left <= width ? undefined : fixed(1 + width + extra + numberAt(view, at + 1, width));
  const holding = (width: 2 | 4, each: number) =>
    left <= width ? undefined : { size: 1 + width, values: each * numberAt(view, at + 1, width) };
  if (tag <= 0x7f || tag >= 0xe0) return fixed(1);
  if (tag <= 0x8f) return { size: 1, values: 2 * (tag & 15) };
  if (tag <= 0x9f) return { size: 1, values: tag & 15 };
  if (tag <= 0xbf) return fixed(1 + (tag & 31));
  switch (tag) {
    case 0xc4: case 0xd9: return sized(1, 0);
    case 0xc5: case 0xda: return sized(2, 0);
    case 0xc6: case 0xdb: return sized(4, 0);
    case 0xc7: return sized(1, 1);
    case 0xc8: return sized(2, 1);
    case 0xc9: return sized(4, 1);
    case 0xcc: case 0xd0: return fixed(2);
    case 0xcd: case 0xd1: return fixed(3);
    case 0xca: case 0xce: case 0xd2: return fixed(5);
    case 0xcb: case 0xcf: case 0xd3: return fixed(9);
    case 0xd4: return fixed(3);
    case 0xd5: return fixed(4);
    case 0xd6: return fixed(6);
    case 0xd7: return fixed(10);
    case 0xd8: return fixed(18);
    case 0xdc: return holding(2, 1);
    case 0xdd: return holding(4, 1);
    case 0xde: return holding(2, 2);
    case 0xdf: return holding(4, 2);
    default: return fixed(1); // nil, false, true
  }
}

function numberAt(view: DataView, at: number, width: 1 | 2 | 4): number {
  return width === 1 ? view.getUint8(at) : width === 2 ? view.getUint16(at) : view.getUint32(at);
}

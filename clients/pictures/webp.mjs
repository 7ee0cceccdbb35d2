// Pictures as WebP: the browser encodes them, and this puts several into one moving picture.
// The container: https://developers.google.com/speed/webp/docs/riff_container

/** Scales down and encodes a screenshot, given as PNG; `quality` 0..1. */
export async function encode(page, png, width, quality) {
  const text = await page.evaluate(async ({ data, width, quality }) => {
    const image = new Image();
    image.src = `data:image/png;base64,${data}`;
    await image.decode();
    const canvas = document.createElement("canvas");
    canvas.width = width;
    canvas.height = Math.round(image.height * width / image.width);
    const context = canvas.getContext("2d", { alpha: false });
    context.imageSmoothingQuality = "high";
    context.drawImage(image, 0, 0, canvas.width, canvas.height);
    return canvas.toDataURL("image/webp", quality).split(",")[1];
  }, { data: png.toString("base64"), width, quality });
  return Buffer.from(text, "base64");
}

function chunk(name, body) {
  const head = Buffer.alloc(8);
  head.write(name, "latin1");
  head.writeUInt32LE(body.length, 4);
  return Buffer.concat([head, body, Buffer.alloc(body.length % 2)]);
}

function number24(value) {
  return Buffer.from([value & 255, (value >> 8) & 255, value >> 16]);
}

// The picture without its container, and its size.
function pictureOf(webp) {
  for (let at = 12; at + 8 <= webp.length;) {
    const name = webp.toString("latin1", at, at + 4);
    const size = webp.readUInt32LE(at + 4);
    const body = webp.subarray(at + 8, at + 8 + size);
    if (name === "VP8 ") { // a tag of three bytes, a mark of three, then width and height
      return { data: chunk(name, body), width: body.readUInt16LE(6) & 0x3fff, height: body.readUInt16LE(8) & 0x3fff };
    }
    at += 8 + size + size % 2;
  }
  throw new Error("no lossy picture in it");
}

/** Makes one animation of stills of equal size, [bytes, milliseconds] of each. It loops for ever. */
export function animate(frames) {
  const { width, height } = pictureOf(frames[0][0]);
  const parts = [
    chunk("VP8X", Buffer.concat([Buffer.from([0x02, 0, 0, 0]), number24(width - 1), number24(height - 1)])),
    chunk("ANIM", Buffer.alloc(6)),
  ];
  for (const [bytes, ms] of frames) {
    const picture = pictureOf(bytes);
    if (picture.width !== width || picture.height !== height) {
      throw new Error("all pictures have to be of one size");
    }
    parts.push(chunk("ANMF", Buffer.concat([
      number24(0), number24(0), number24(width - 1), number24(height - 1), number24(ms), Buffer.from([0x02]),
      picture.data,
    ])));
  }
  return chunk("RIFF", Buffer.concat([Buffer.from("WEBP", "latin1"), ...parts]));
}

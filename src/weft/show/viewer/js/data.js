// What the page holds: a JSON block `about`, and arrays as base64 of deflated bytes (weft.show.viewer.packing).

const about = JSON.parse(document.getElementById("about").textContent);

async function bytesOf(name) {
  const block = document.getElementById("block:" + name);
  if (block === null) return null;
  const text = atob(block.textContent.trim());
  block.remove();
  const packed = new Uint8Array(text.length);
  for (let i = 0; i < text.length; i++) packed[i] = text.charCodeAt(i);
  const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("deflate"));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

async function arrayOf(name, Kind) {
  const bytes = await bytesOf(name);
  return bytes && new Kind(bytes.buffer);
}

// Frames of a packed array: differences from frame to frame, folded, in planes of low and high bytes.
class Track {
  static async of(name, frames) {
    const bytes = await bytesOf(name);
    return bytes && new Track(bytes, frames, about.arrays[name]);
  }

  constructor(bytes, frames, grid) {
    const width = grid.bits / 8, n = bytes.length / frames / width;
    this.n = n;
    this.grid = grid;
    this.frames = frames;
    this.numbers = width === 1 ? new Uint8Array(n * frames) : new Uint16Array(n * frames);
    for (let k = 0; k < frames; k++) {
      const from = k * n * width, to = k * n;
      for (let i = 0; i < n; i++) {
        let folded = bytes[from + i];
        if (width === 2) folded |= bytes[from + n + i] << 8;
        const before = k ? this.numbers[to - n + i] : 0;
        this.numbers[to + i] = before + ((folded >> 1) ^ -(folded & 1)); // modulo 2^bits
      }
    }
  }

  // Values of a frame; of an array of one frame, that.
  values(frame) {
    const { low, step } = this.grid, c = low.length, found = new Float32Array(this.n);
    const from = Math.min(frame, this.frames - 1) * this.n;
    for (let i = 0; i < this.n; i++) found[i] = low[i % c] + this.numbers[from + i] * step[i % c];
    return found;
  }
}

// Frames that the page holds. A frame is { number, look, cloth, bodies, contacts, values, scale }.
class PageFrames {
  static async open() {
    const frames = new PageFrames(), count = about.numbers.length;
    frames.cloth = await Track.of("cloth", count);
    frames.bodies = await Track.of("bodies", about.bodies_still ? 1 : count);
    frames.looks = {};
    for (const name of Object.keys(about.scales)) frames.looks[name] = await Track.of(name, count);
    frames.touched = await arrayOf("contacts", Uint16Array);
    return frames;
  }

  get(k, look) {
    const last = this.last;
    if (last && last.number === about.numbers[k] && last.look === look) return last;
    const values = look in this.looks ? this.looks[look].values(k) : null;
    return (this.last = {
      number: about.numbers[k], look, values, cloth: this.cloth.values(k), contacts: this.contacts(k),
      bodies: this.bodies && this.bodies.values(k), scale: about.scales[look],
    });
  }

  contacts(k) {
    if (!this.touched) return new Float32Array(0);
    const start = about.contact_counts.slice(0, k).reduce((a, b) => a + b, 0), { low, step } = about.arrays.contacts;
    const part = this.touched.subarray(3 * start, 3 * (start + about.contact_counts[k]));
    return Float32Array.from(part, (v, i) => low[i % 3] + v * step[i % 3]);
  }

  ahead() {} // all of them are here
}

// Normals at vertices, weighted by area, into `normals` (as long as `x`).
function addNormals(x, faces, normals) {
  normals.fill(0);
  for (let f = 0; f < faces.length; f += 3) {
    const a = 3 * faces[f], b = 3 * faces[f + 1], c = 3 * faces[f + 2];
    const ux = x[b] - x[a], uy = x[b + 1] - x[a + 1], uz = x[b + 2] - x[a + 2];
    const vx = x[c] - x[a], vy = x[c + 1] - x[a + 1], vz = x[c + 2] - x[a + 2];
    const nx = uy * vz - uz * vy, ny = uz * vx - ux * vz, nz = ux * vy - uy * vx;
    for (const i of [a, b, c]) {
      normals[i] += nx;
      normals[i + 1] += ny;
      normals[i + 2] += nz;
    }
  }
}

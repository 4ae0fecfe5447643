// Frames that a server has (weft.show.viewer.run_server), at the address `about.live`; only pages of servers hold this script.

const KEPT = 96e6; // bytes of frames that stay in the browser

// A frame as weft.show.viewer.packing.pack_frame packs it: what its header says, and arrays by name.
function unpackFrame(data) {
  const length = new DataView(data).getUint32(0, true);
  const frame = { values: null, ...JSON.parse(new TextDecoder().decode(new Uint8Array(data, 4, length))) };
  let place = 4 + length;
  for (const [name, count] of Object.entries(frame.counts)) {
    frame[name] = new Float32Array(data, place, count);
    place += 4 * count;
  }
  return frame;
}

// Frames are asked for when they are needed, and kept.
class ServedFrames {
  constructor(changed) {
    this.changed = changed; // called when a frame has come
    this.here = new Map();
    this.asked = new Set();
    this.size = 0;
  }

  get(k, look) { // null: it is not here yet
    const key = `${about.numbers[k]} ${look}`, found = this.here.get(key);
    if (!found) return void this.ask(key, about.numbers[k], look);
    this.here.delete(key); // the frame that was used last is the last one to be forgotten
    this.here.set(key, found);
    return found;
  }

  ahead(k, look) {
    const key = `${about.numbers[k]} ${look}`;
    if (!this.here.has(key)) this.ask(key, about.numbers[k], look);
  }

  async state() { // what has changed since the page was made
    return (await fetch(about.live + "state")).json();
  }

  async ask(key, number, look) {
    if (this.asked.has(key)) return;
    this.asked.add(key);
    try {
      const answer = await fetch(`${about.live}frame?number=${number}&look=${encodeURIComponent(look)}`);
      if (!answer.ok) throw new Error(await answer.text());
      this.keep(key, look, await answer.arrayBuffer());
      this.asked.delete(key);
      about.problem = "";
    } catch (error) {
      about.problem = error.message;
      setTimeout(() => this.asked.delete(key), EVERY); // then it may be asked for again
    }
    this.changed();
  }

  keep(key, look, data) {
    const frame = { ...unpackFrame(data), look, size: data.byteLength };
    this.size += frame.size;
    this.here.set(key, frame);
    for (const [old, { size }] of this.here) {
      if (this.size <= KEPT || old === key) break;
      this.here.delete(old);
      this.size -= size;
    }
  }
}

// The hand: takes cloth or a loose body under the pointer, drags it, and draws what it holds.

const NEAR_PIN = 12; // [pixels] from a pin's dot within which a click means the pin
const STILL = 4; // [pixels] a pointer that moved less has clicked
const DEEPER = 0.0006; // part of the distance to the eye that one pixel of the wheel moves the hand

// The first triangle that a ray meets: its row, the weights of its corners, and how far along the ray; null: none.
function firstHit(x, faces, { eye, along }) {
  const [ox, oy, oz] = eye, [dx, dy, dz] = along;
  let best = null;
  for (let f = 0; f < faces.length; f += 3) { // Moller and Trumbore 1997
    const a = 3 * faces[f], b = 3 * faces[f + 1], c = 3 * faces[f + 2];
    const ux = x[b] - x[a], uy = x[b + 1] - x[a + 1], uz = x[b + 2] - x[a + 2];
    const vx = x[c] - x[a], vy = x[c + 1] - x[a + 1], vz = x[c + 2] - x[a + 2];
    const px = dy * vz - dz * vy, py = dz * vx - dx * vz, pz = dx * vy - dy * vx;
    const determinant = ux * px + uy * py + uz * pz;
    if (determinant === 0) continue;
    const tx = ox - x[a], ty = oy - x[a + 1], tz = oz - x[a + 2];
    const u = (tx * px + ty * py + tz * pz) / determinant;
    if (u < 0 || u > 1) continue;
    const qx = ty * uz - tz * uy, qy = tz * ux - tx * uz, qz = tx * uy - ty * ux;
    const v = (dx * qx + dy * qy + dz * qz) / determinant;
    if (v < 0 || u + v > 1) continue;
    const t = (vx * qx + vy * qy + vz * qz) / determinant;
    if (t > 0 && (best === null || t < best.t)) best = { t, face: f / 3, weights: [1 - u - v, u, v] };
  }
  return best;
}

class Hand {
  // `shown()`: the drawn picture; `faces`: of cloth and bodies; `panel(face)`: name of the panel of a face of cloth, while
  // panels are moved; `say`: sends a message; `force()`: of the hand [N].
  constructor({ canvas, camera, shown, faces, panel, say, force, changed }) {
    Object.assign(this, { canvas, camera, shown, faces, panel, say, force, changed });
    this.holds = new Map(); // by pointer
    const listen = (kind, act) => canvas.addEventListener(kind, (e) => act.call(this, e) && e.stopImmediatePropagation(), { passive: false });
    listen("pointerdown", this.down); // the camera does not get what the hand takes
    listen("pointermove", this.move);
    listen("pointerup", (e) => this.up(e, e.shiftKey));
    listen("pointercancel", (e) => this.up(e, false));
    listen("wheel", this.wheel);
  }

  ray([x, y]) { // through a point of the window
    const box = this.canvas.getBoundingClientRect(), aspect = box.width / box.height;
    const { eye, axes } = this.camera.projection(aspect);
    const across = TAN_HALF * aspect * ((2 * (x - box.left)) / box.width - 1), up = TAN_HALF * (1 - (2 * (y - box.top)) / box.height);
    return { eye, back: axes[2], along: sum(sum(scaled(axes[0], across), scaled(axes[1], up)), scaled(axes[2], -1)) };
  }

  project(p) { // pixels of the canvas
    const { width, height } = this.canvas.getBoundingClientRect(), m = this.camera.projection(width / height).matrix;
    const [x, y, w] = [0, 1, 3].map((i) => m[i] * p[0] + m[4 + i] * p[1] + m[8 + i] * p[2] + m[12 + i]);
    return w > 0 ? [(width * (1 + x / w)) / 2, (height * (1 - y / w)) / 2] : null;
  }

  pick(ray) { // what can be taken there; a body that is not loose hides it
    const frame = this.shown();
    const hits = ["cloth", "bodies"].filter((on) => this.faces[on]).map((on) => ({ on, ...firstHit(frame[on], this.faces[on], ray) }));
    const [hit] = hits.filter((h) => h.t).sort((a, b) => a.t - b.t);
    const loose = (face) => (about.play.loose || []).some(([first, end]) => face >= first && face < end);
    if (!hit || (hit.on === "bodies" && !loose(hit.face))) return null;
    return { ...hit, place: sum(ray.eye, scaled(ray.along, hit.t)) };
  }

  pinAt([x, y]) {
    const box = this.canvas.getBoundingClientRect();
    const far = (pin) => {
      const at = this.project(pin.slice(1));
      return at ? Math.hypot(at[0] + box.left - x, at[1] + box.top - y) : Infinity;
    };
    return this.shown().pins.find((pin) => far(pin) < NEAR_PIN);
  }

  down(e) {
    if (!this.shown() || e.button !== 0 || e.altKey || e.ctrlKey) return false;
    const at = [e.clientX, e.clientY], pin = this.pinAt(at), hit = this.pick(this.ray(at));
    if (!pin && !hit) return false;
    this.canvas.setPointerCapture(e.pointerId);
    const fingers = [...this.holds.values()].map((h) => h.finger);
    const finger = [...Array(fingers.length + 1).keys()].find((k) => !fingers.includes(k));
    const hold = { finger, pin, hit, at, from: at, place: hit && hit.place, pressed: false };
    this.holds.set(e.pointerId, hold);
    if (!pin) this.press(hold);
    return true;
  }

  press(hold) {
    const { on, face, weights, place } = hold.hit;
    hold.pressed = true;
    hold.panel = on === "cloth" ? this.panel(face) : null;
    if (!hold.panel) this.say({ do: "press", finger: hold.finger, on, face, weights, place, force: this.force() });
    this.changed();
  }

  move(e) {
    const hold = this.holds.get(e.pointerId);
    if (!hold) {
      if (!e.buttons && this.shown()) this.canvas.style.cursor = this.pick(this.ray([e.clientX, e.clientY])) ? "grab" : "";
      return false;
    }
    hold.at = [e.clientX, e.clientY];
    if (hold.pin && !hold.pressed && hold.hit && !this.clicked(hold)) { // a pin that is dragged is taken along
      this.say({ do: "unpin", pin: hold.pin[0] });
      this.press(hold);
    }
    this.follow(hold);
    return true;
  }

  clicked(hold) {
    return Math.hypot(hold.at[0] - hold.from[0], hold.at[1] - hold.from[1]) < STILL;
  }

  follow(hold) { // to the pointer, in the plane of the screen through the place of the hand
    if (!hold.pressed) return;
    const { eye, back, along } = this.ray(hold.at), before = hold.place;
    hold.place = sum(eye, scaled(along, dot(back, sum(eye, scaled(before, -1)))));
    this.canvas.style.cursor = "grabbing";
    if (hold.panel) this.say({ do: "place", panel: hold.panel, by: sum(hold.place, scaled(before, -1)) });
    else this.say({ do: "move", finger: hold.finger, place: hold.place });
    this.draw(); // at once: cloth comes later
  }

  wheel(e) {
    const hold = [...this.holds.values()].findLast((h) => h.pressed);
    if (!hold) return false;
    e.preventDefault();
    const { eye, back } = this.ray(hold.at), pixels = e.deltaY * (e.deltaMode ? 25 : 1);
    const far = Math.hypot(...sum(hold.place, scaled(eye, -1)));
    hold.place = sum(hold.place, scaled(back, DEEPER * far * pixels));
    this.follow(hold);
    return true;
  }

  up(e, pin) {
    const hold = this.holds.get(e.pointerId);
    if (!hold) return false;
    this.holds.delete(e.pointerId);
    this.canvas.style.cursor = "";
    if (hold.pressed && !hold.panel) this.say({ do: "release", finger: hold.finger, pin });
    else if (!hold.pressed && e.type === "pointerup" && this.clicked(hold)) this.say({ do: "unpin", pin: hold.pin[0] });
    this.changed();
    return true;
  }

  releases() { // what is said of all that is held when the page goes away
    return [...this.holds.values()].filter((h) => h.pressed && !h.panel).map(({ finger }) => ({ do: "release", finger, pin: false }));
  }

  // Draws lines from what is held to the hands, and their forces.
  draw() {
    const frame = this.shown();
    $("hands").innerHTML = [...this.holds.values()].filter((h) => h.pressed).map(({ finger, hit, place }) => {
      const x = frame[hit.on], corners = this.faces[hit.on].subarray(3 * hit.face, 3 * hit.face + 3);
      const held = [0, 1, 2].map((c) => hit.weights.reduce((all, w, k) => all + w * x[3 * corners[k] + c], 0));
      const from = this.project(held), to = this.project(place), known = frame.fingers.find((f) => f[0] === finger);
      if (!from || !to) return "";
      const ends = `x1="${from[0]}" y1="${from[1]}" x2="${to[0]}" y2="${to[1]}"`;
      return `<line class="halo" ${ends}/><line ${ends}/><circle cx="${from[0]}" cy="${from[1]}" r="4"/>` +
        `<circle class="place" cx="${to[0]}" cy="${to[1]}" r="9"/>` +
        `<text x="${to[0] + 14}" y="${to[1] + 4}">${known ? `${brief(known[7])} N` : ""}</text>`;
    }).join("");
  }
}

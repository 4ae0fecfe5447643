// A camera that turns around a point, and how mouse, fingers and wheel move it.

const sum = (a, b) => a.map((v, i) => v + b[i]);
const scaled = (a, s) => a.map((v) => v * s);
const dot = (a, b) => a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
const cross = (a, b) => [
  a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]];
const unit = (a) => scaled(a, 1 / Math.hypot(...a));

function mean(x) { // of points, 3 numbers each
  const all = [0, 0, 0];
  for (let i = 0; i < x.length; i++) all[i % 3] += x[i];
  return scaled(all, 3 / x.length);
}

// Columns of the matrix of a view: axes right, up, back, and the eye.
function viewOf(axes, eye) {
  const [r, u, b] = axes;
  return [r[0], u[0], b[0], 0, r[1], u[1], b[1], 0, r[2], u[2], b[2], 0,
    -dot(r, eye), -dot(u, eye), -dot(b, eye), 1];
}

function product(a, b) { // of 4 x 4 matrices, by columns
  const c = new Float32Array(16);
  for (let j = 0; j < 4; j++)
    for (let i = 0; i < 4; i++)
      for (let k = 0; k < 4; k++) c[4 * j + i] += a[4 * k + i] * b[4 * j + k];
  return c;
}

const TAN_HALF = Math.tan((15 * Math.PI) / 180); // of the angle of view, vertical

class Camera {
  constructor(center, radius, azimuth, elevation) {
    this.home = { center, radius, azimuth, elevation };
    this.reset();
  }

  reset() {
    const h = this.home;
    Object.assign(this, { target: [...h.center], azimuth: h.azimuth, elevation: h.elevation, zoom: 1 });
  }

  distance(aspect) {
    return (0.9 * this.home.radius) / (Math.sin(Math.atan(TAN_HALF)) * Math.min(1, aspect) * this.zoom);
  }

  axes() {
    const a = (this.azimuth * Math.PI) / 180, e = (this.elevation * Math.PI) / 180;
    const back = [Math.sin(a) * Math.cos(e), Math.sin(e), Math.cos(a) * Math.cos(e)];
    const right = [Math.cos(a), 0, -Math.sin(a)];
    return [right, cross(back, right), back];
  }

  // What shaders need: the matrix to clip space, and the eye.
  projection(aspect) {
    const d = this.distance(aspect), axes = this.axes();
    const eye = sum(this.target, scaled(axes[2], d));
    const near = Math.max(0.02 * d, d - 8 * this.home.radius), far = d + 40 * this.home.radius;
    const p = [1 / (TAN_HALF * aspect), 0, 0, 0, 0, 1 / TAN_HALF, 0, 0,
      0, 0, (far + near) / (near - far), -1, 0, 0, (2 * far * near) / (near - far), 0];
    return { matrix: product(p, viewOf(axes, eye)), eye, axes };
  }

  turn(dx, dy) {
    this.azimuth -= 0.4 * dx;
    this.elevation = Math.max(-89, Math.min(89, this.elevation + 0.4 * dy));
  }

  move(dx, dy, height, aspect) { // by pixels of a picture of this height
    const s = (2 * TAN_HALF * this.distance(aspect)) / height, [right, up] = this.axes();
    this.shift(sum(scaled(right, -s * dx), scaled(up, s * dy)));
  }

  shift(by) { // [m]
    this.target = sum(this.target, by);
  }

  magnify(factor) {
    this.zoom = Math.max(0.05, Math.min(50, this.zoom * factor));
  }
}

// One finger or the left button turns; two fingers, shift or another button move; wheel and pinch zoom.
function steer(camera, canvas, changed) {
  const down = new Map();
  const spread = () => {
    const [a, b] = [...down.values()];
    return Math.hypot(a.x - b.x, a.y - b.y);
  };
  canvas.addEventListener("contextmenu", (e) => e.preventDefault());
  canvas.addEventListener("pointerdown", (e) => {
    canvas.setPointerCapture(e.pointerId);
    down.set(e.pointerId, { x: e.clientX, y: e.clientY, moves: e.shiftKey || e.button > 0 });
  });
  canvas.addEventListener("pointermove", (e) => {
    const at = down.get(e.pointerId);
    if (at === undefined) return;
    const before = down.size === 2 ? spread() : 0, size = down.size;
    const dx = e.clientX - at.x, dy = e.clientY - at.y;
    const aspect = canvas.clientWidth / canvas.clientHeight;
    Object.assign(at, { x: e.clientX, y: e.clientY });
    if (size === 2) {
      camera.magnify(spread() / Math.max(before, 1));
      camera.move(dx / 2, dy / 2, canvas.clientHeight, aspect);
    } else if (at.moves) camera.move(dx, dy, canvas.clientHeight, aspect);
    else camera.turn(dx, dy);
    changed();
  });
  for (const end of ["pointerup", "pointercancel"])
    canvas.addEventListener(end, (e) => down.delete(e.pointerId));
  canvas.addEventListener("wheel", (e) => {
    e.preventDefault();
    camera.magnify(Math.exp(-e.deltaY / (e.deltaMode ? 25 : 600)));
    changed();
  }, { passive: false });
}

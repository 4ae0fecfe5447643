// Metrics along the time line, each on its own scale; energy and distance as logarithms.

const PLOT_SIDE = 8; // pixels left and right of the curves
const brief = (value) => (value === null || value === undefined ? "-" : Number(value.toPrecision(3)).toString());

function drawPlot(canvas, plots, frame, count, curves = about.curves) {
  const scale = window.devicePixelRatio || 1, c = canvas.getContext("2d");
  const width = canvas.clientWidth, height = canvas.clientHeight;
  Object.assign(canvas, { width: width * scale, height: height * scale });
  c.scale(scale, scale);
  const left = PLOT_SIDE, top = 18, across = width - 2 * left, down = height - top - 3;
  const x = (k) => left + (count > 1 ? (k / (count - 1)) * across : 0);
  c.font = "12px system-ui, sans-serif";
  let place = left;
  for (const { name, title, unit, color, log } of curves) {
    const values = plots[name];
    if (values === undefined) continue;
    const usable = values.filter((v) => v !== null && (!log || v > 0)).map((v) => (log ? Math.log10(v) : v));
    const high = Math.max(...usable), low = log ? Math.max(Math.min(...usable), high - 8) : 0;
    c.strokeStyle = c.fillStyle = "#" + color;
    c.beginPath();
    let pen = false;
    values.forEach((v, k) => {
      if (v === null || (log && v <= 0)) return void (pen = false);
      const t = ((log ? Math.log10(v) : v) - low) / (high - low || 1);
      c[pen ? "lineTo" : "moveTo"](x(k), top + down * (1 - Math.max(0, t)));
      pen = true;
    });
    c.stroke();
    const text = `${title} ${brief(values[frame])} ${values[frame] === null ? "" : unit}`;
    c.fillText(text, place, 12);
    place += Math.max(c.measureText(text).width + 12, Math.min(170, across / curves.length));
  }
  c.fillStyle = "#22262b";
  c.fillRect(x(frame) - 0.75, top - 2, 1.5, down + 4);
}

// Dragging in the curves goes to the frame under the pointer.
function dragPlot(canvas, count, go) {
  canvas.addEventListener("pointerdown", (e) => canvas.setPointerCapture(e.pointerId));
  for (const kind of ["pointerdown", "pointermove"])
    canvas.addEventListener(kind, (e) => {
      if (!e.buttons) return;
      const t = (e.offsetX - PLOT_SIDE) / (canvas.clientWidth - 2 * PLOT_SIDE);
      go(Math.round(Math.max(0, Math.min(1, t)) * (count() - 1)));
    });
}

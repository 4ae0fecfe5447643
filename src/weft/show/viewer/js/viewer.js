// The page: reads its data, shows a frame, and listens to people.

const SPEEDS = [0.1, 0.25, 0.5, 1, 2, 4];
const $ = (id) => document.getElementById(id);

async function open() {
  const count = about.numbers.length;
  const cloth = await Track.of("cloth", count);
  const bodies = await Track.of("bodies", about.bodies_still ? 1 : count);
  const fields = {};
  for (const name of Object.keys(about.scales)) fields[name] = await Track.of(name, count);
  const faces = await arrayOf("corner_faces", Uint32Array);
  const vertex = await arrayOf("corner_vertex", Uint32Array);
  const uv = await arrayOf("corner_uv", Float32Array);
  const region = Float32Array.from(await arrayOf("corner_region", Uint16Array));
  const bodyFaces = await arrayOf("body_faces", Uint32Array);
  const touched = await arrayOf("contacts", Uint16Array);
  const meshFaces = faces.map((corner) => vertex[corner]);

  // Boxes of all frames: the camera looks at the cloth, the ground lies below everything.
  const boxOf = ({ grid }) => [grid.low, grid.low.map((v, i) => v + grid.step[i] * 65535)];
  const box = boxOf(cloth), size = Math.max(...box[1].map((v, i) => v - box[0][i]));
  const low = bodies ? Math.min(box[0][1], boxOf(bodies)[0][1]) : box[0][1];
  const drawing = new Drawing($("picture"), box, low - 0.01 * size);
  const hash = () => new URLSearchParams(location.hash.slice(1));
  const number = (key, other) => (hash().has(key) ? Number(hash().get(key)) : other);
  const camera = new Camera(drawing.center, drawing.radius, number("azimuth", 28), number("elevation", 16));
  camera.magnify(number("zoom", 1));

  const sheet = new Surface(drawing.gl, faces);
  sheet.set(2, uv, 2);
  sheet.set(3, region, 1);
  const solid = bodies && new Surface(drawing.gl, bodyFaces);
  const x = new Float32Array(cloth.n), normals = new Float32Array(cloth.n);
  const corners = { x: new Float32Array(3 * vertex.length), n: new Float32Array(3 * vertex.length), v: new Float32Array(vertex.length) };
  const bx = bodies && new Float32Array(bodies.n), bn = bodies && new Float32Array(bodies.n);
  const state = { frame: 0, look: "plain", playing: false, speed: 1, loaded: -1, colored: "" };

  const several = about.regions.length > 1;
  const looks = [...(several ? ["panels"] : []), "checker", "plain", ...Object.keys(fields)];
  $("look").replaceChildren(...looks.map((name) => new Option(name)));
  $("speed").replaceChildren(...SPEEDS.map((s) => new Option(`${s} x`, s)));
  $("bodies").parentElement.hidden = !bodies;
  $("contacts").parentElement.hidden = !touched;
  $("pins").parentElement.hidden = about.pins.length === 0;
  $("frame").max = count - 1;

  // Corners of the card's surface take what their vertices have.
  function spreadOut(values, into, c) {
    for (let i = 0; i < vertex.length; i++)
      for (let j = 0; j < c; j++) into[c * i + j] = values[c * vertex[i] + j];
    return into;
  }

  function load() {
    const k = state.frame;
    if (state.loaded !== k) {
      addNormals(cloth.values(k, x), meshFaces, normals);
      sheet.set(0, spreadOut(x, corners.x, 3), 3);
      sheet.set(1, spreadOut(normals, corners.n, 3), 3);
      if (bodies && (state.loaded < 0 || bodies.frames > 1)) {
        addNormals(bodies.values(k, bx), bodyFaces, bn);
        solid.set(0, bx, 3);
        solid.set(1, bn, 3);
      }
      state.loaded = k;
    }
    const field = fields[state.look], wanted = field ? `${state.look} ${k}` : "";
    if (field && state.colored !== wanted) {
      const { low, high } = about.scales[state.look];
      const t = field.values(k, new Float32Array(field.n)).map((v) => (v - low) / (high - low));
      sheet.set(4, spreadOut(t, corners.v, 1), 1);
      state.colored = wanted;
    }
  }

  function dotsOfFrame() {
    const dots = [], k = state.frame, t = about.numbers[k] / about.fps;
    if (touched && $("contacts").checked) {
      const start = about.contact_counts.slice(0, k).reduce((a, b) => a + b, 0), { low, step } = about.arrays.contacts;
      const part = touched.subarray(3 * start, 3 * (start + about.contact_counts[k]));
      dots.push([Float32Array.from(part, (v, i) => low[i % 3] + v * step[i % 3]), rgb(about.colors.contact), 7]);
    }
    if ($("pins").checked) {
      const held = about.pins.filter((p) => p.until === null || t <= p.until).flatMap((p) => p.vertices);
      dots.push([new Float32Array(held.flatMap((v) => [x[3 * v], x[3 * v + 1], x[3 * v + 2]])), rgb(about.colors.pin), 8]);
    }
    return dots;
  }

  function draw() {
    load();
    const scale = about.scales[state.look], kinds = { plain: PLAIN, checker: CHECKER, panels: PANELS };
    const shown = [[sheet, scale ? RAMP : kinds[state.look], rgb(about.colors.cloth)]];
    if (bodies && $("bodies").checked) shown.push([solid, SOLID, rgb(about.colors.body)]);
    const anchors = scale ? scale.anchors : ["000000", "ffffff"];
    const style = { ramp: flat(anchors), panels: flat(about.colors.panels), cell: about.cell };
    drawing.draw(camera, shown, dotsOfFrame(), style);
    const k = state.frame;
    $("told").textContent = `${about.name}\nframe ${about.numbers[k]}, ${(about.numbers[k] / about.fps).toFixed(3)} s`;
    $("frame").value = k;
    $("play").textContent = state.playing ? "pause" : "play";
    $("legend").hidden = !scale;
    if (scale) {
      $("title").textContent = scale.title;
      $("low").textContent = `${scale.low} ${scale.unit}`;
      $("high").textContent = `${scale.high} ${scale.unit}`;
      $("ramp").style.background = `linear-gradient(90deg, ${anchors.map((a) => "#" + a).join(", ")})`;
    }
    drawPlot($("plot"), about.plots, k, count);
    const wrong = drawing.gl.getError();
    document.body.dataset.shown = wrong ? `WebGL error ${wrong}` : about.numbers[k];
  }

  let waiting = false;
  function changed() { // draws once before the next picture of the screen, however often it is called
    if (waiting) return;
    waiting = true;
    requestAnimationFrame(() => {
      waiting = false;
      draw();
    });
  }

  function go(frame) {
    state.frame = Math.max(0, Math.min(count - 1, frame));
    changed();
  }

  function play(on) {
    state.playing = on && count > 1;
    if (state.playing) {
      const from = state.frame === count - 1 ? 0 : state.frame;
      state.began = { clock: performance.now(), frame: from };
      requestAnimationFrame(tick);
    }
    changed();
  }

  function tick(now) {
    if (!state.playing) return;
    const seconds = (Math.max(0, now - state.began.clock) / 1000) * state.speed;
    const step = count > 1 ? about.numbers[1] - about.numbers[0] : 1;
    go(Math.floor(state.began.frame + (seconds * about.fps) / step) % count);
    requestAnimationFrame(tick);
  }

  function setSpeed(speed) {
    state.speed = speed;
    $("speed").value = speed;
    if (state.playing) play(true);
  }

  function setLook(look) {
    if (looks.includes(look)) state.look = look;
    $("look").value = state.look;
    changed();
  }

  function obey() { // what comes after # in the address: frame, look, speed, play, bodies, contacts, pins
    const said = hash(), wanted = number("frame", about.numbers[0]);
    const last = about.numbers[count - 1], target = wanted < 0 ? last + 1 + wanted : wanted;
    const off = about.numbers.map((k) => Math.abs(k - target));
    state.frame = off.indexOf(Math.min(...off));
    for (const id of ["bodies", "contacts", "pins"])
      if (said.has(id)) $(id).checked = said.get(id) !== "0";
    setLook(said.get("look") || (state.loaded < 0 ? looks[0] : state.look));
    const speed = number("speed", state.speed);
    setSpeed(SPEEDS.includes(speed) ? speed : 1);
    play(said.get("play") === "1");
  }

  const nextSpeed = (by) => setSpeed(SPEEDS[Math.max(0, Math.min(SPEEDS.length - 1, SPEEDS.indexOf(state.speed) + by))]);
  const step = (by) => (play(false), go(state.frame + by));
  const flip = (id) => ($(id).click());
  const keys = {
    " ": () => play(!state.playing), ArrowLeft: () => step(-1), ArrowRight: () => step(1), Home: () => step(-count),
    End: () => step(count), ArrowUp: () => nextSpeed(1), ArrowDown: () => nextSpeed(-1), b: () => flip("bodies"),
    c: () => flip("contacts"), p: () => flip("pins"), r: () => (camera.reset(), changed()),
    l: () => setLook(looks[(looks.indexOf(state.look) + 1) % looks.length]),
  };
  window.addEventListener("keydown", (e) => {
    if (!keys[e.key] || e.ctrlKey || e.metaKey || e.altKey || e.target.tagName === "SELECT") return;
    e.preventDefault();
    keys[e.key]();
  });
  $("frame").addEventListener("input", (e) => step(Number(e.target.value) - state.frame));
  $("play").addEventListener("click", () => play(!state.playing));
  $("reset").addEventListener("click", keys.r);
  $("look").addEventListener("change", (e) => setLook(e.target.value));
  $("speed").addEventListener("change", (e) => setSpeed(Number(e.target.value)));
  for (const id of ["bodies", "contacts", "pins"]) $(id).addEventListener("change", changed);
  for (const id of ["play", "reset"]) // space plays, wherever the focus is
    $(id).addEventListener("keyup", (e) => e.key === " " && e.preventDefault());
  window.addEventListener("resize", changed);
  window.addEventListener("hashchange", obey);
  steer(camera, $("picture"), changed);
  obey();
  return { state, camera, positions: (k) => cloth.values(k, new Float32Array(cloth.n)) };
}

function fail(error) {
  $("told").className = "wrong";
  $("told").textContent = `cannot show this run: ${error.message}`;
  document.body.dataset.shown = `error: ${error.message}`;
}

window.weft = open();
window.weft.catch(fail);

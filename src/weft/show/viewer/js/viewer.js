// The page: shows a frame, and listens to people.

const AHEAD = 6; // frames that are asked for before they are shown
const EVERY = 500; // [ms] between two looks for new frames
const SPEEDS = [0.1, 0.25, 0.5, 1, 2, 4];
const $ = (id) => document.getElementById(id);

async function open() {
  const live = "live" in about && !about.play, count = () => about.numbers.length; // live: a run that may grow
  const frames = about.play ? new LiveFrames(() => changed()) : live ? new ServedFrames(() => changed()) : await PageFrames.open();
  const faces = await arrayOf("corner_faces", Uint32Array);
  const vertex = await arrayOf("corner_vertex", Uint32Array);
  const uv = await arrayOf("corner_uv", Float32Array);
  const region = Float32Array.from(await arrayOf("corner_region", Uint16Array));
  const bodyFaces = await arrayOf("body_faces", Uint32Array);
  const meshFaces = faces.map((corner) => vertex[corner]);

  const drawing = new Drawing($("picture"), about.box, about.floor);
  const hash = () => new URLSearchParams(location.hash.slice(1));
  const number = (key, other) => (hash().has(key) ? Number(hash().get(key)) : other);
  if (about.play) drawing.adapt();
  const camera = new Camera(drawing.center, drawing.radius, number("azimuth", 28), number("elevation", 16));
  camera.magnify(number("zoom", 1));

  const sheet = new Surface(drawing.gl, faces);
  sheet.set(2, uv, 2);
  sheet.set(3, region, 1);
  const surfaces = about.surfaces ? await paint(drawing, sheet, uv, region) : null;
  const solid = bodyFaces && new Surface(drawing.gl, bodyFaces);
  const normals = new Float32Array(3 * about.vertices);
  const corners = { x: new Float32Array(3 * vertex.length), n: new Float32Array(3 * vertex.length), v: new Float32Array(vertex.length) };
  const state = { frame: 0, look: about.looks[0], playing: false, speed: 1 };
  let shown = null, still = null; // the frame on the card; bodies on the card
  let middle = null; // of the cloth on the card
  const desk = about.play && new Desk({ camera, shown: () => shown, faces: { cloth: meshFaces, bodies: bodyFaces }, panelOf: (face) => about.regions[region[faces[3 * face]]], changed: () => changed() });

  $("look").replaceChildren(...about.looks.map((name) => new Option(name)));
  $("speed").replaceChildren(...SPEEDS.map((s) => new Option(`${s} x`, s)));
  $("bodies").parentElement.hidden = !solid;
  $("contacts").parentElement.hidden = !about.contacts;
  $("pins").parentElement.hidden = about.pins.length === 0;
  $("follow").parentElement.hidden = !live;
  $("follow").checked = live && about.goes_on;
  $("follow-cloth").checked = Boolean(about.follow_cloth);

  // Corners of the card's surface take what their vertices have.
  function spreadOut(values, into, c) {
    for (let i = 0; i < vertex.length; i++)
      for (let j = 0; j < c; j++) into[c * i + j] = values[c * vertex[i] + j];
    return into;
  }

  function load() { // brings the frame to the card; one that has not come leaves what was there
    const found = frames.get(state.frame, state.look);
    if (!found || found === shown) return;
    if (shown === null || shown.number !== found.number) {
      followCloth(mean(found.cloth));
      addNormals(found.cloth, meshFaces, normals);
      sheet.set(0, spreadOut(found.cloth, corners.x, 3), 3);
      sheet.set(1, spreadOut(normals, corners.n, 3), 3);
      if (surfaces) surfaces.sew(found.cloth, normals);
      if (solid && !(still && found.bodies.every((v, i) => v === still[i]))) {
        const bodyNormals = new Float32Array(found.bodies.length);
        addNormals(found.bodies, bodyFaces, bodyNormals);
        solid.set(0, found.bodies, 3);
        solid.set(1, bodyNormals, 3);
        still = found.bodies;
      }
    }
    if (found.values) {
      const { low, high } = found.scale;
      sheet.set(4, spreadOut(found.values.map((v) => (v - low) / (high - low)), corners.v, 1), 1);
    }
    shown = found;
  }

  // The camera goes with the middle of the cloth to that of another frame; it rests while a hand holds cloth.
  function followCloth(now) {
    const before = middle || camera.target;
    middle = now;
    if (!$("follow-cloth").checked || (desk && desk.hand.holds.size)) return;
    camera.shift(sum(now, scaled(before, -1)));
    drawing.lightUp(now);
  }

  function center() { // the middle of the cloth or, where the camera does not follow it, of the whole
    const follows = $("follow-cloth").checked && middle;
    camera.target = [...(follows ? middle : camera.home.center)];
    drawing.lightUp(camera.target);
    changed();
  }

  function dotsOfFrame() {
    const dots = [], t = "t" in shown ? shown.t : shown.number / about.fps, x = shown.cloth;
    if ($("contacts").checked) dots.push([shown.contacts, rgb(about.colors.contact), 7]);
    if ($("pins").checked) {
      const pinned = about.pins.filter((p) => p.until === null || t <= p.until).flatMap((p) => p.vertices);
      dots.push([new Float32Array(pinned.flatMap((v) => [x[3 * v], x[3 * v + 1], x[3 * v + 2]])), rgb(about.colors.pin), 8]);
    }
    if (desk) dots.push([new Float32Array(shown.pins.flatMap(([, ...place]) => place)), rgb(about.colors.pin), 12]);
    return dots;
  }

  function draw() {
    load();
    if (desk) {
      if (shown) drawFrame();
      return desk.draw(shown);
    }
    const k = state.frame, wrong = about.problem || about.note;
    $("told").className = wrong ? "wrong" : "";
    if (shown) drawFrame();
    const n = shown ? shown.number : about.numbers[k], progress = about.progress ? ` (${about.progress})` : "";
    $("told").textContent = `${about.name}\nframe ${n}, ${(n / about.fps).toFixed(3)} s${progress}${wrong ? `\n${wrong}` : ""}`;
    $("frame").max = count() - 1;
    $("frame").value = k;
    $("play").textContent = state.playing ? "pause" : "play";
    drawPlot($("plot"), about.plots, k, count());
    for (let i = 1; state.playing && i <= AHEAD; i++) frames.ahead((k + i) % count(), state.look);
  }

  function drawFrame() {
    const { scale } = shown, kinds = { plain: PLAIN, checker: CHECKER, panels: PANELS, surface: SURFACE };
    const drawn = [[sheet, scale ? RAMP : kinds[shown.look], rgb(about.colors.cloth)]];
    if (shown.look === "surface") drawn.push(...surfaces.stitches);
    if (solid && $("bodies").checked) drawn.push([solid, SOLID, rgb(about.colors.body)]);
    const anchors = scale ? scale.anchors : ["000000", "ffffff"];
    const style = { ramp: flat(anchors), panels: flat(about.colors.panels), cell: about.cell };
    drawing.draw(camera, drawn, dotsOfFrame(), style);
    $("legend").hidden = !scale;
    if (scale) {
      $("title").textContent = scale.title;
      $("low").textContent = `${scale.low} ${scale.unit}`;
      $("high").textContent = `${scale.high} ${scale.unit}`;
      $("ramp").style.background = `linear-gradient(90deg, ${anchors.map((a) => "#" + a).join(", ")})`;
    }
    const wrong = drawing.gl.getError();
    document.body.dataset.shown = wrong ? `WebGL error ${wrong}` : shown.number;
  }

  let waiting = false;
  function changed() { // draws once before the next picture of the screen, however often it is called
    if (waiting) return;
    waiting = true;
    requestAnimationFrame(function next() {
      if (drawing.isBusy()) return requestAnimationFrame(next);
      waiting = false;
      draw();
    });
  }

  function go(frame) {
    state.frame = Math.max(0, Math.min(count() - 1, frame));
    changed();
  }

  function play(on) {
    if (desk) return desk.play();
    state.playing = on && count() > 1;
    if (state.playing) {
      const again = state.frame === count() - 1 && !about.goes_on;
      state.began = { clock: performance.now(), frame: again ? 0 : state.frame };
      requestAnimationFrame(tick);
    }
    changed();
  }

  function tick(now) {
    if (!state.playing) return;
    const seconds = (Math.max(0, now - state.began.clock) / 1000) * state.speed;
    const step = count() > 1 ? about.numbers[1] - about.numbers[0] : 1;
    let frame = Math.floor(state.began.frame + (seconds * about.fps) / step);
    if (frame >= count() && about.goes_on) { // plays what there is, and waits for more
      frame = count() - 1;
      state.began = { clock: now, frame };
    }
    go(frame % count());
    requestAnimationFrame(tick);
  }

  async function follow() { // looks for new frames, again and again
    try {
      const now = await frames.state();
      if (now.edition !== about.edition) return location.reload();
      Object.assign(about, now);
      if (!state.playing) go($("follow").checked ? count() - 1 : state.frame);
    } catch {
      about.note = "the server does not answer: the page shows the frames that it has read";
    }
    changed();
    setTimeout(follow, EVERY);
  }

  function setSpeed(speed) {
    if (desk) return desk.say({ do: "speed", factor: speed });
    state.speed = speed;
    $("speed").value = speed;
    if (state.playing) play(true);
  }

  function setLook(look) {
    if (desk) return desk.say({ do: "look", name: look });
    if (about.looks.includes(look)) state.look = look;
    $("look").value = state.look;
    changed();
  }

  function obey() { // what comes after # in the address: frame, look, speed, play, bodies, contacts, pins
    const said = hash(), wanted = number("frame", $("follow").checked ? -1 : about.numbers[0]);
    const last = about.numbers[count() - 1], target = wanted < 0 ? last + 1 + wanted : wanted;
    const off = about.numbers.map((k) => Math.abs(k - target));
    state.frame = off.indexOf(Math.min(...off));
    for (const id of ["bodies", "contacts", "pins", "follow-cloth"])
      if (said.has(id)) $(id).checked = said.get(id) !== "0";
    if ($("follow-cloth").checked) center();
    if (desk) return changed();
    setLook(said.get("look") || (shown ? state.look : about.look || state.look));
    const speed = number("speed", state.speed);
    setSpeed(SPEEDS.includes(speed) ? speed : 1);
    play(said.get("play") === "1");
  }

  const nextSpeed = (by) => setSpeed(SPEEDS[Math.max(0, Math.min(SPEEDS.length - 1, SPEEDS.indexOf(state.speed) + by))]);
  const stop = (frame) => { // at the last frame a run is followed
    play(false);
    go(frame);
    $("follow").checked = live && state.frame === count() - 1;
  };
  const step = (by) => stop(state.frame + by);
  const flip = (id) => ($(id).click());
  const keys = {
    b: () => flip("bodies"), c: () => flip("contacts"), p: () => flip("pins"), f: () => flip("follow-cloth"),
    r: () => (camera.reset(), center()),
    l: () => setLook(about.looks[(about.looks.indexOf($("look").value) + 1) % about.looks.length]),
    ...(desk ? desk.keys : {
      " ": () => play(!state.playing), ArrowLeft: () => step(-1), ArrowRight: () => step(1), Home: () => stop(0),
      End: () => stop(count() - 1), ArrowUp: () => nextSpeed(1), ArrowDown: () => nextSpeed(-1),
    }),
  };
  window.addEventListener("keydown", (e) => {
    if (!keys[e.key] || e.ctrlKey || e.metaKey || e.altKey || e.target.tagName === "SELECT") return;
    e.preventDefault();
    keys[e.key]();
  });
  $("frame").addEventListener("input", (e) => stop(Number(e.target.value)));
  $("play").addEventListener("click", () => play(!state.playing));
  $("reset").addEventListener("click", keys.r);
  $("look").addEventListener("change", (e) => setLook(e.target.value));
  $("speed").addEventListener("change", (e) => setSpeed(Number(e.target.value)));
  for (const id of ["bodies", "contacts", "pins"]) $(id).addEventListener("change", changed);
  $("follow-cloth").addEventListener("change", center);
  for (const id of ["play", "reset"]) // space plays, wherever the focus is
    $(id).addEventListener("keyup", (e) => e.key === " " && e.preventDefault());
  new ResizeObserver(changed).observe($("picture")); // also where the bar below takes another row
  window.addEventListener("hashchange", obey);
  steer(camera, $("picture"), changed);
  if (!desk) dragPlot($("plot"), count, stop);
  obey();
  if (live) follow();
  if (about.play) frames.ask();
  return { state, camera, drawing, positions: (k) => frames.get(k, state.look).cloth, hand: desk && desk.hand };
}

function fail(error) {
  $("told").className = "wrong";
  $("told").textContent = `cannot show this run: ${error.message}`;
  document.body.dataset.shown = `error: ${error.message}`;
}

window.weft = open();
window.weft.catch(fail);

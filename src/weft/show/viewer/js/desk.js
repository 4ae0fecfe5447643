// The desk: sliders for the numbers of a simulation (about.play), buttons, and what the simulation says of itself.

const SLIDES = 1000; // places of a slider
const REMEMBERED = 10; // [s] of cloth whose energies are drawn
const OWN = 700; // [ms] for which a slider keeps what a person chose, until pictures know it
const TOLD = 6000; // [ms] for which a refusal is shown
const ENERGIES = [
  { name: "kinetic", title: "kinetic", unit: "J", color: "b2182b", log: true },
  { name: "elastic", title: "elastic", unit: "J", color: "2166ac", log: true },
  { name: "contact", title: "contact", unit: "J", color: "4d8a4f", log: true },
];

function element(kind, given, ...children) {
  const made = Object.assign(document.createElement(kind), given);
  made.append(...children);
  return made;
}

// One number or name of the simulation.
class Control {
  constructor(about, chosen) {
    Object.assign(this, { about, chosen, until: 0, measured: about.measured });
    const { title, choices } = about;
    this.number = element("output");
    this.mark = element("i", { title: "measured value; double-click to return to this value", hidden: true });
    if (choices && choices.length) {
      this.input = element("select", {}, ...choices.map((name) => new Option(name)));
      this.row = element("label", { className: "control choice" }, element("span", { textContent: title }), this.input);
      this.input.addEventListener("change", () => this.choose(this.input.value));
      return;
    }
    this.input = element("input", { type: "range", min: 0, max: SLIDES, step: 1 });
    const head = element("span", { className: "head" }, element("span", { textContent: title }), this.number);
    this.row = element("label", { className: "control" }, head, element("span", { className: "slide" }, this.mark, this.input));
    this.input.addEventListener("input", () => this.choose(this.valueAt(this.input.value / SLIDES)));
    this.row.addEventListener("dblclick", () => this.measured && this.choose(about.value));
  }

  valueAt(part) {
    const { low, high, log } = this.about;
    return log ? low * (high / low) ** part : low + part * (high - low);
  }

  partOf(value) {
    const { low, high, log } = this.about;
    return Math.max(0, Math.min(1, log ? Math.log(value / low) / Math.log(high / low) : (value - low) / (high - low)));
  }

  choose(value) {
    this.until = performance.now() + OWN;
    this.write(value);
    this.chosen(value);
  }

  show(value, original) { // what a picture says; `original`: fabric and models are those of the start
    this.measured = this.about.measured && original;
    if (performance.now() > this.until) this.write(value);
  }

  write(value) {
    this.value = value;
    if (this.input.tagName === "SELECT") {
      if (![...this.input.options].some((o) => o.value === value)) this.input.add(new Option(value)); // of nobody's list
      if (this.input.value !== value) this.input.value = value;
      return;
    }
    const part = this.partOf(value), start = this.about.value;
    const same = this.measured && Math.abs(value - start) <= 1e-6 * Math.abs(start);
    if (Math.round(part * SLIDES) !== Number(this.input.value)) this.input.value = part * SLIDES;
    this.number.textContent = `${same ? "measured " : ""}${brief(value * this.about.factor)} ${this.about.unit}`;
    this.mark.hidden = !this.measured;
    if (this.measured) this.mark.style.setProperty("--part", this.partOf(start));
  }
}

class Desk {
  // As for `Hand`; `frames`: LiveFrames.
  constructor({ camera, shown, faces, panelOf, changed }) {
    Object.assign(this, { shown, changed, history: [], refusal: "" });
    this.messenger = new Messenger((answer) => this.answered(answer));
    const say = (message) => this.messenger.say(message);
    this.say = say;
    const { controls, force } = about.play;
    this.force = new Control({ title: "strength of the hand", unit: "N", factor: 1, log: true, ...force }, () => {});
    this.force.write(force.value);
    const panel = (face) => (this.isUnsewn(shown()) ? panelOf(face) : null);
    this.hand = new Hand({ canvas: $("picture"), camera, shown, faces, panel, say, changed, force: () => this.force.value });
    this.controls = new Map(controls.map((c) => [c.path, new Control(c, (value) => say({ do: "set", path: c.path, value }))]));
    this.arrange();
    this.keys = {
      " ": () => this.play(), ".": () => say({ do: "step" }), z: () => say({ do: "undo" }),
    };
    for (const id of ["step", "undo", "restart"]) $(id).addEventListener("click", () => say({ do: id === "restart" ? "reset" : id }));
    $("save-scene").addEventListener("click", () => say({ do: "save", what: "scene" }));
    $("save-play").addEventListener("click", () => say({ do: "save", what: "play" }));
    window.addEventListener("pagehide", () => this.messenger.leave(this.hand.releases()));
    // Keys act wherever a button was pressed, or a slider moved, before.
    document.addEventListener("change", (e) => e.target.blur());
    document.addEventListener("click", (e) => e.target.closest("button") && e.target.blur());
  }

  arrange() { // sliders in groups
    const groups = new Map([["hand", [this.force]]]);
    for (const control of this.controls.values()) {
      const { group } = control.about;
      if (!groups.has(group)) groups.set(group, []);
      groups.get(group).push(control);
    }
    [...groups].forEach(([name, members]) => {
      const head = element("summary", { textContent: name });
      $("controls").append(element("details", { open: true }, head, ...members.map((c) => c.row)));
    });
    if (about.play.panels && about.play.panels.length) {
      const rows = about.play.panels.map((panel) => {
        const box = element("input", { type: "checkbox" });
        box.addEventListener("change", () => this.say({ do: "freeze", panel, on: box.checked }));
        return element("label", { className: "control" }, box, ` ${panel}`);
      });
      $("controls").append(element("details", {}, element("summary", { textContent: "fixed panels" }), ...rows));
    }
    document.body.classList.add("plays");
    for (const id of ["hands", "desk", "deeds"]) $(id).removeAttribute("hidden");
    $("frame").hidden = true;
  }

  isUnsewn(frame) { // panels are still moved as a whole
    const { panels } = about.play;
    return panels && panels.length > 1 && frame.t === 0 && !frame.status.playing;
  }

  play() {
    this.say({ do: this.shown() && this.shown().status.playing ? "pause" : "play" });
  }

  answered({ refused, saved }) {
    if (saved) {
      $("saved").replaceChildren("saved ", element("b", { textContent: saved }), element("code", { textContent: `weft run ${saved}` }));
      return;
    }
    if (!refused) return;
    this.refusal = refused;
    clearTimeout(this.timer);
    this.timer = setTimeout(() => {
      this.refusal = "";
      this.changed();
    }, TOLD);
    this.changed();
  }

  draw(frame) {
    const status = frame && frame.status, wrong = this.refusal || about.problem || (status && status.problem);
    $("problem").hidden = !wrong;
    $("problem").textContent = wrong || "";
    if (!frame) return;
    $("told").className = status.intersections ? "wrong" : "";
    $("told").textContent = this.describe(frame);
    this.advise(frame);
    $("play").textContent = status.playing ? "pause" : this.isUnsewn(frame) ? "sew" : "play";
    for (const [id, value] of [["speed", status.speed], ["look", frame.look]])
      if ($(id) !== document.activeElement && $(id).value !== String(value)) $(id).value = value;
    const values = frame.controls, same = (c) => c.input.tagName !== "SELECT" || values[c.about.path] === c.about.value;
    const original = [...this.controls.values()].every(same);
    for (const [path, control] of this.controls) control.show(values[path], original);
    this.hand.draw();
    this.drawEnergies(frame);
  }

  advise(frame) { // what a person can do now
    const unsewn = this.isUnsewn(frame), { playing } = frame.status;
    $("hint").textContent = unsewn ? "drag a panel: move \u00b7 drag the background: turn"
      : "drag cloth: pull \u00b7 wheel: deeper \u00b7 hold shift at the end: pin \u00b7 click a pin: release \u00b7 drag the background: turn";
    this.touched = this.touched || this.hand.holds.size > 0;
    $("invitation").hidden = this.touched && (playing || frame.t > 0);
    $("invitation").textContent = unsewn ? "move panels with the pointer, then sew"
      : playing ? "pull at the cloth" : "press play (space), then pull at the cloth";
  }

  describe({ t, status: { fps, real_time, contacts, intersections, playing } }) {
    const speed = playing ? `${fps.toFixed(0)} pictures per second, ${real_time.toFixed(2)} times real time` : "paused";
    return `${about.name}, ${t.toFixed(2)} s\n${speed}\n${contacts} contacts, ${intersections} intersections`;
  }

  drawEnergies({ t, energies }) {
    this.history = this.history.filter((h) => h.t < t && h.t >= t - REMEMBERED); // a time may come again
    this.history.push({ t, ...energies });
    const plots = Object.fromEntries(ENERGIES.map(({ name }) => [name, this.history.map((h) => h[name])]));
    drawPlot($("plot"), plots, this.history.length - 1, this.history.length, ENERGIES);
  }
}

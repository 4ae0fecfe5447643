// Pictures of a simulation that goes on, and messages to it (weft.live.server), at the address `about.live`.

const AFTER_ERROR = 1000; // [ms] until a server that did not answer is asked again

// Only the newest picture is kept, and one request for the next one is always under way.
class LiveFrames {
  constructor(changed) {
    this.changed = changed; // called when a picture has come
    this.newest = null;
  }

  get() {
    return this.newest;
  }

  ahead() {}

  async ask() { // again and again
    const still = await arrayOf("still_bodies", Float32Array); // bodies as they are until they move
    for (let number = -1; ; ) {
      try {
        const answer = await fetch(`${about.live}next?after=${number}`);
        if (!answer.ok) throw new Error(await answer.text());
        about.problem = "";
        if (answer.status === 204) continue; // nothing new
        const frame = unpackFrame(await answer.arrayBuffer());
        if (frame.bodies.length === 0 && still) frame.bodies = still;
        number = frame.number;
        this.newest = frame;
      } catch (error) {
        about.problem = error instanceof TypeError ? "the simulation does not answer: it has ended, or the connection is lost" : error.message;
        await new Promise((go) => setTimeout(go, AFTER_ERROR));
      }
      this.changed();
    }
  }
}

// Sends messages in their order, one request at a time. Of several moves of a finger, or places of a slider, that wait,
// the newest one is sent; ways of a panel are added up.
class Messenger {
  constructor(answered) {
    this.answered = answered; // called with what the simulation answered, or with { refused: text }
    this.waiting = [];
    this.busy = false;
  }

  say(message) {
    const last = this.waiting.findLast((m) => ["finger", "path", "panel"].every((key) => m[key] === message[key]));
    if (last && last.do === message.do && message.do === "place") last.by = sum(last.by, message.by);
    else if (last && last.do === message.do && ["move", "set"].includes(message.do)) Object.assign(last, message);
    else this.waiting.push(message);
    if (!this.busy) this.send();
  }

  post(messages, more = {}) {
    const headers = { "Content-Type": "application/json" };
    return fetch(about.live + "say", { method: "POST", headers, body: JSON.stringify(messages), ...more });
  }

  leave(messages) { // the last words of a page
    if (messages.length) this.post(messages, { keepalive: true });
  }

  async send() {
    this.busy = true;
    while (this.waiting.length) {
      try {
        const answer = await this.post(this.waiting.splice(0));
        this.answered(answer.ok ? await answer.json() : { refused: await answer.text() });
      } catch {
        this.answered({ refused: "the simulation does not answer" });
      }
    }
    this.busy = false;
  }
}

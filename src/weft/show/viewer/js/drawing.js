// WebGL2: cloth, bodies and ground with a shadow map, and dots for contacts and pins.

const PLAIN = 0, CHECKER = 1, PANELS = 2, RAMP = 3, SOLID = 4, GROUND = 5, SURFACE = 6;
// From fine to coarse: texels of a side of the shadow map, its taps beside the middle one, pixels of a pixel's side.
const QUALITIES = [{ shadow: 1536, taps: 2, part: 1 }, { shadow: 512, taps: 0, part: 1 }, { shadow: 512, taps: 0, part: 0.5 }];
const SLOW = 100; // [ms] for a picture, above which a drawing that adapts becomes coarser
const PRINT = 1024; // texels of the side of an image

const rgb = (code) => [0, 2, 4].map((i) => parseInt(code.slice(i, i + 2), 16) / 255);
const flat = (codes) => new Float32Array(codes.flatMap(rgb));

const VERTEX = `#version 300 es
layout(location = 0) in vec3 position;
layout(location = 1) in vec3 normal;
layout(location = 2) in vec2 uv;
layout(location = 3) in float region;
layout(location = 4) in float value;
layout(location = 5) in vec3 place; // in the image, and which; -1: none
layout(location = 6) in vec3 front_color;
layout(location = 7) in vec3 back_color; // -1: paler than the front
uniform mat4 camera, light;
out vec3 p, n, print, fore, back;
out vec4 shade;
out vec2 material;
out float v;
flat out int panel;
void main() {
  print = place; fore = front_color; back = back_color;
  p = position; n = normal; material = uv; v = value; panel = int(region + 0.5);
  shade = light * vec4(position, 1.0);
  gl_Position = camera * vec4(position, 1.0);
}`;

// Lambert with a wrapped key light from above, a sky, and several taps of the shadow map.
const FRAGMENT = `#version 300 es
precision highp float;
precision highp sampler2DShadow;
precision highp sampler2DArray;
in vec3 p, n, print, fore, back;
in vec4 shade;
in vec2 material;
in float v;
flat in int panel;
uniform sampler2DShadow shadow;
uniform sampler2DArray prints;
uniform vec3 eye, towards, color, ramp[8], panels[8], ground;
uniform float cell, texel, spread;
uniform int look, stops, taps;
out vec4 result;
float lit(float bias) {
  vec3 q = 0.5 * shade.xyz + 0.5;
  if (any(lessThan(q, vec3(0.0))) || any(greaterThan(q, vec3(1.0)))) return 1.0;
  float sum = 0.0;
  for (int i = -taps; i <= taps; i++)
    for (int j = -taps; j <= taps; j++)
      sum += texture(shadow, vec3(q.xy + spread * texel * vec2(i, j), q.z - bias));
  return sum / float((2 * taps + 1) * (2 * taps + 1));
}
vec3 along(float t) {
  float s = clamp(t, 0.0, 1.0) * float(stops - 1);
  int i = min(int(s), stops - 2);
  return mix(ramp[i], ramp[i + 1], s - float(i));
}
void main() {
  if (look == ${GROUND}) {
    float far = smoothstep(0.3, 1.0, length(p.xz - ground.xy) / ground.z);
    result = vec4(mix(color * mix(0.72, 1.0, lit(0.0)), color, far), 1.0 - far);
    return;
  }
  vec3 to = normalize(eye - p), m = normalize(n);
  bool front = gl_FrontFacing;
  if (!front) m = -m;
  vec3 c = color;
  if (look == ${CHECKER}) {
    vec2 k = floor(material / cell);
    if (mod(k.x + k.y, 2.0) > 0.5) c *= 0.75;
  }
  if (look == ${PANELS}) c = panels[panel % 8];
  if (look == ${SURFACE}) c = print.z < -0.5 ? fore : texture(prints, vec3(print.x, -print.y, print.z)).rgb;
  if (look == ${RAMP}) c = along(v);
  else if (look == ${SURFACE} && !front && back.x >= 0.0) c = back;
  else if (!front && look != ${SOLID}) c = mix(c, vec3(0.9, 0.88, 0.84), 0.45);
  float key = max(0.0, (dot(m, towards) + 0.15) / 1.15) * lit(texel * (2.3 + 4.6 * (1.0 - abs(dot(m, towards)))));
  float sky = 0.5 + 0.5 * m.y, rim = 0.12 * pow(1.0 - max(dot(m, to), 0.0), 3.0);
  float fill = 0.18 * max(dot(m, to), 0.0); // a weak lamp at the eye, for what is in the shade
  float light = 0.28 + 0.18 * sky + fill + 0.56 * key + rim;
  if (look == ${RAMP}) light = mix(1.0, light, 0.45); // colors of a scale must stay readable
  vec3 linear = c * c * light;
  result = vec4(sqrt(min(linear, vec3(1.0))), 1.0);
}`;

const DOT_VERTEX = `#version 300 es
layout(location = 0) in vec3 position;
uniform mat4 camera;
uniform float size;
void main() { gl_Position = camera * vec4(position, 1.0); gl_Position.z -= 0.0006 * gl_Position.w; gl_PointSize = size; }`;
const DOT_FRAGMENT = `#version 300 es
precision highp float;
uniform vec3 color;
out vec4 result;
void main() {
  float d = length(gl_PointCoord - 0.5);
  if (d > 0.5) discard;
  result = vec4(color * (d > 0.36 ? 0.45 : 1.0), 1.0);
}`;

function program(gl, vertex, fragment) {
  const made = gl.createProgram();
  for (const [kind, text] of [[gl.VERTEX_SHADER, vertex], [gl.FRAGMENT_SHADER, fragment]]) {
    const shader = gl.createShader(kind);
    gl.shaderSource(shader, text);
    gl.compileShader(shader);
    if (!gl.getShaderParameter(shader, gl.COMPILE_STATUS)) throw new Error(gl.getShaderInfoLog(shader));
    gl.attachShader(made, shader);
  }
  gl.linkProgram(made);
  if (!gl.getProgramParameter(made, gl.LINK_STATUS)) throw new Error(gl.getProgramInfoLog(made));
  const at = {};
  for (let i = 0; i < gl.getProgramParameter(made, gl.ACTIVE_UNIFORMS); i++) {
    const name = gl.getActiveUniform(made, i).name.replace("[0]", "");
    at[name] = gl.getUniformLocation(made, name);
  }
  return { made, at };
}

// A surface, or lines, on the card; attributes by location: as of VERTEX.
class Surface {
  constructor(gl, faces, mode = gl.TRIANGLES) {
    this.mode = mode;
    this.gl = gl;
    this.count = faces.length;
    this.array = gl.createVertexArray();
    this.buffers = {};
    gl.bindVertexArray(this.array);
    gl.bindBuffer(gl.ELEMENT_ARRAY_BUFFER, gl.createBuffer());
    gl.bufferData(gl.ELEMENT_ARRAY_BUFFER, faces, gl.STATIC_DRAW);
  }

  set(location, data, components) {
    const gl = this.gl, known = this.buffers[location];
    gl.bindVertexArray(this.array);
    gl.bindBuffer(gl.ARRAY_BUFFER, known || (this.buffers[location] = gl.createBuffer()));
    gl.bufferData(gl.ARRAY_BUFFER, data, gl.DYNAMIC_DRAW);
    if (known) return;
    gl.enableVertexAttribArray(location);
    gl.vertexAttribPointer(location, components, gl.FLOAT, false, 0, 0);
  }

  draw() {
    this.gl.bindVertexArray(this.array);
    this.gl.drawElements(this.mode, this.count, this.gl.UNSIGNED_INT, 0);
  }
}

class Drawing {
  // `box`: low and high corner of what moves; `floor`: height of the ground.
  constructor(canvas, box, floor) {
    const gl = canvas.getContext("webgl2", { antialias: true, alpha: false });
    if (gl === null) throw new Error("this browser has no WebGL2: use another browser, or enable hardware acceleration");
    Object.assign(this, { gl, canvas, floor, adapts: false, slow: 0, sent: null });
    this.main = program(gl, VERTEX, FRAGMENT);
    this.dots = program(gl, DOT_VERTEX, DOT_FRAGMENT);
    this.center = scaled(sum(box[0], box[1]), 0.5);
    this.radius = Math.hypot(...sum(box[1], scaled(box[0], -1))) / 2 || 1;
    this.towards = unit([-0.35, 0.85, 0.5]);
    this.quality = QUALITIES[0];
    this.makeShadow();
    this.ground = new Surface(gl, new Uint32Array([0, 2, 1, 1, 2, 3]));
    this.ground.set(1, new Float32Array([0, 1, 0, 0, 1, 0, 0, 1, 0, 0, 1, 0]), 3);
    this.lightUp(this.center);
    this.points = { array: gl.createVertexArray(), buffer: gl.createBuffer() };
    gl.bindVertexArray(this.points.array);
    gl.bindBuffer(gl.ARRAY_BUFFER, this.points.buffer);
    gl.enableVertexAttribArray(0);
    gl.vertexAttribPointer(0, 3, gl.FLOAT, false, 0, 0);
  }

  makeShadow() {
    const gl = this.gl;
    this.depth = gl.createTexture();
    gl.bindTexture(gl.TEXTURE_2D, this.depth);
    gl.texStorage2D(gl.TEXTURE_2D, 1, gl.DEPTH_COMPONENT24, this.quality.shadow, this.quality.shadow);
    for (const [key, value] of [
      [gl.TEXTURE_COMPARE_MODE, gl.COMPARE_REF_TO_TEXTURE], [gl.TEXTURE_MIN_FILTER, gl.LINEAR],
      [gl.TEXTURE_MAG_FILTER, gl.LINEAR], [gl.TEXTURE_WRAP_S, gl.CLAMP_TO_EDGE], [gl.TEXTURE_WRAP_T, gl.CLAMP_TO_EDGE],
    ]) gl.texParameteri(gl.TEXTURE_2D, key, value);
    this.target = gl.createFramebuffer();
    gl.bindFramebuffer(gl.FRAMEBUFFER, this.target);
    gl.framebufferTexture2D(gl.FRAMEBUFFER, gl.DEPTH_ATTACHMENT, gl.TEXTURE_2D, this.depth, 0);
    gl.bindFramebuffer(gl.FRAMEBUFFER, null);
  }

  lightUp(center) { // light, its shadows and the ground are those around this point
    const back = this.towards, right = unit(cross([0, 1, 0], back)), far = 1.15 * this.radius;
    const axes = [right, cross(back, right), back];
    const ortho = [1 / far, 0, 0, 0, 0, 1 / far, 0, 0, 0, 0, -1 / (4 * far), 0, 0, 0, -1, 1];
    const [x, , z] = (this.center = center), y = this.floor, r = 7 * this.radius;
    this.light = product(ortho, viewOf(axes, sum(center, scaled(back, 4 * far))));
    this.ground.set(0, new Float32Array([x - r, y, z - r, x + r, y, z - r, x - r, y, z + r, x + r, y, z + r]), 3);
  }

  // `images`: decoded; all become layers of one size.
  setPrints(images) {
    const gl = this.gl, canvas = document.createElement("canvas"), pen = canvas.getContext("2d");
    Object.assign(canvas, { width: PRINT, height: PRINT });
    gl.activeTexture(gl.TEXTURE1);
    gl.bindTexture(gl.TEXTURE_2D_ARRAY, gl.createTexture());
    gl.texStorage3D(gl.TEXTURE_2D_ARRAY, Math.log2(PRINT) + 1, gl.RGBA8, PRINT, PRINT, images.length);
    images.forEach((image, k) => {
      pen.drawImage(image, 0, 0, PRINT, PRINT);
      gl.texSubImage3D(gl.TEXTURE_2D_ARRAY, 0, 0, 0, k, PRINT, PRINT, 1, gl.RGBA, gl.UNSIGNED_BYTE, canvas);
    });
    gl.generateMipmap(gl.TEXTURE_2D_ARRAY);
    gl.texParameteri(gl.TEXTURE_2D_ARRAY, gl.TEXTURE_MIN_FILTER, gl.LINEAR_MIPMAP_LINEAR);
    const sharp = gl.getExtension("EXT_texture_filter_anisotropic");
    if (sharp) gl.texParameteri(gl.TEXTURE_2D_ARRAY, sharp.TEXTURE_MAX_ANISOTROPY_EXT, 8);
    gl.activeTexture(gl.TEXTURE0);
  }

  // `shown`: [[surface, look, color]]; `dots`: [[points, color, size]]; colors as sRGB.
  draw(camera, shown, dots, style) {
    const { gl, canvas } = this, { made, at } = this.main, { shadow, taps, part } = this.quality;
    const scale = part * (window.devicePixelRatio || 1);
    const width = Math.max(1, Math.round(canvas.clientWidth * scale));
    const height = Math.max(1, Math.round(canvas.clientHeight * scale));
    if (canvas.width !== width || canvas.height !== height) Object.assign(canvas, { width, height });
    const view = camera.projection(width / height);
    gl.useProgram(made);
    gl.uniform1i(at.prints, 1); // textures of two kinds must not share a unit
    gl.enable(gl.DEPTH_TEST);
    gl.bindTexture(gl.TEXTURE_2D, null);
    gl.bindFramebuffer(gl.FRAMEBUFFER, this.target);
    gl.viewport(0, 0, shadow, shadow);
    gl.clear(gl.DEPTH_BUFFER_BIT);
    gl.uniformMatrix4fv(at.camera, false, this.light);
    for (const [surface] of shown) surface.draw();
    gl.bindFramebuffer(gl.FRAMEBUFFER, null);
    gl.bindTexture(gl.TEXTURE_2D, this.depth);
    gl.viewport(0, 0, width, height);
    gl.clearColor(0.827, 0.839, 0.859, 1);
    gl.clear(gl.COLOR_BUFFER_BIT | gl.DEPTH_BUFFER_BIT);
    gl.uniformMatrix4fv(at.camera, false, view.matrix);
    gl.uniformMatrix4fv(at.light, false, this.light);
    gl.uniform3fv(at.eye, view.eye);
    gl.uniform3fv(at.towards, this.towards);
    gl.uniform3fv(at.ramp, style.ramp);
    gl.uniform3fv(at.panels, style.panels);
    gl.uniform1i(at.stops, style.ramp.length / 3);
    gl.uniform1f(at.cell, style.cell);
    gl.uniform1f(at.texel, 1 / shadow);
    gl.uniform1i(at.taps, taps);
    gl.uniform1f(at.spread, 1);
    for (const [surface, look, color] of shown) {
      gl.uniform1i(at.look, look);
      gl.uniform3fv(at.color, color);
      surface.draw();
    }
    if (view.eye[1] > this.floor) this.drawGround(at);
    this.drawDots(view.matrix, dots, scale);
    this.sent = { fence: gl.fenceSync(gl.SYNC_GPU_COMMANDS_COMPLETE, 0), at: performance.now() };
    gl.flush();
  }

  adapt() { // from now on, and at once where the processor draws
    const names = this.gl.getExtension("WEBGL_debug_renderer_info");
    this.adapts = true;
    if (names && /SwiftShader|llvmpipe|software/i.test(this.gl.getParameter(names.UNMASKED_RENDERER_WEBGL))) this.coarsen();
  }

  // Whether the last picture is still being drawn; another one would only wait for it.
  isBusy() {
    const { gl, sent } = this;
    if (!sent || !sent.fence || gl.getSyncParameter(sent.fence, gl.SYNC_STATUS) === gl.UNSIGNALED) return Boolean(sent && sent.fence);
    gl.deleteSync(sent.fence);
    this.sent = null;
    if (performance.now() - sent.at > SLOW && ++this.slow > 2) this.coarsen();
    return false;
  }

  coarsen() { // for graphics without a card of its own
    const next = QUALITIES[QUALITIES.indexOf(this.quality) + 1];
    this.slow = 0;
    if (!this.adapts || !next) return;
    const { gl, quality } = this;
    this.quality = next;
    if (next.shadow === quality.shadow) return;
    gl.deleteTexture(this.depth);
    gl.deleteFramebuffer(this.target);
    this.makeShadow();
  }

  drawGround(at) { // last, for it fades into the background
    const gl = this.gl;
    gl.enable(gl.BLEND);
    gl.blendFunc(gl.SRC_ALPHA, gl.ONE_MINUS_SRC_ALPHA);
    gl.uniform1i(at.look, GROUND);
    gl.uniform1f(at.spread, 5);
    gl.uniform3fv(at.color, [0.78, 0.79, 0.81]);
    gl.uniform3fv(at.ground, [this.center[0], this.center[2], 6 * this.radius]);
    this.ground.draw();
    gl.disable(gl.BLEND);
  }

  drawDots(matrix, dots, scale) {
    const gl = this.gl, { made, at } = this.dots;
    gl.useProgram(made);
    gl.bindVertexArray(this.points.array);
    gl.bindBuffer(gl.ARRAY_BUFFER, this.points.buffer);
    gl.uniformMatrix4fv(at.camera, false, matrix);
    for (const [points, color, size] of dots) {
      gl.bufferData(gl.ARRAY_BUFFER, points, gl.DYNAMIC_DRAW);
      gl.uniform3fv(at.color, color);
      gl.uniform1f(at.size, size * scale);
      gl.drawArrays(gl.POINTS, 0, points.length / 3);
    }
  }
}

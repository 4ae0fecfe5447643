// Colors, images and stitches of the look `surface`.

const LIFT = 0.0008; // [m] of stitches above the cloth

// Gives the corners of the sheet their places in images and their colors.
async function paint(drawing, sheet, uv, region) {
  const images = about.images.map((url) => Object.assign(new Image(), { src: url }));
  await Promise.all(images.map((image) => image.decode()));
  if (images.length) drawing.setPrints(images);
  const n = region.length, place = new Float32Array(3 * n), fore = new Float32Array(3 * n), back = new Float32Array(3 * n);
  for (let i = 0; i < n; i++) {
    const look = about.surfaces[region[i]], u = uv[2 * i], v = uv[2 * i + 1];
    const [s, t] = look ? look.st.map((row) => row[0] * u + row[1] * v + row[2]) : [0, 0];
    place.set([s, t, look && look.image !== null ? look.image : -1], 3 * i);
    fore.set(rgb(look ? look.color : about.colors.cloth), 3 * i);
    back.set(look && look.back ? rgb(look.back) : [-1, -1, -1], 3 * i);
  }
  [place, fore, back].forEach((values, k) => sheet.set(5 + k, values, 3));
  return stitchesOf(drawing.gl);
}

// Stitches as lines by region; `sew` moves them with the cloth.
async function stitchesOf(gl) {
  const vertex = await arrayOf("stitch_vertex", Uint32Array), weight = await arrayOf("stitch_weight", Float32Array);
  const parts = [];
  let first = 0;
  for (const look of about.surfaces.filter((look) => look && look.stitches)) {
    parts.push({ first, count: look.stitches, lines: new Surface(gl, Uint32Array.from({ length: look.stitches }, (_, i) => i), gl.LINES), look });
    first += look.stitches;
  }
  function sew(x, normals) {
    for (const { first, count, lines } of parts) {
      const place = new Float32Array(3 * count), normal = new Float32Array(3 * count);
      for (let e = 0; e < count; e++) {
        const sum = [0, 0, 0], up = [0, 0, 0];
        for (let k = 0; k < 3; k++)
          for (let c = 0; c < 3; c++) {
            const i = 3 * (first + e) + k, at = 3 * vertex[i] + c;
            sum[c] += weight[i] * x[at];
            up[c] += normals[at];
          }
        const long = Math.hypot(...up) || 1;
        place.set(sum.map((value, c) => value + (LIFT * up[c]) / long), 3 * e);
        normal.set(up.map((value) => value / long), 3 * e);
      }
      lines.set(0, place, 3);
      lines.set(1, normal, 3);
    }
  }
  return { sew, stitches: parts.map(({ lines, look }) => [lines, SOLID, rgb(look.thread)]) };
}

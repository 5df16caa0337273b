// What tests ask a page that shows a run or a node. Nothing of it is part of the program.
globalThis.reading = {
  // What stands on the page, a line each, whatever it is written with.
  words(leftOut) {
    const at = (selector) => [...document.querySelectorAll(selector)].filter((found) => !found.closest("[hidden]"));
    const text = (found) => found.textContent.trim();
    const lines = [];
    const say = (what, words) => { if (!leftOut.some((start) => `${what}: ${words}`.startsWith(start))) lines.push(`${what}: ${words}`); };
    for (const found of at("h1, h2, .lead, button, caption, .legend li")) say(found.className === "lead" ? found.id : found.tagName.toLowerCase(), text(found));
    say("phase", text(document.getElementById("phase")));
    say("clock", text(document.getElementById("clock")));
    for (const found of at("dl dd")) say(`figure ${found.dataset.key}`, `${text(found.previousSibling)} = ${text(found)}`);
    for (const found of at("tr")) say("row", [...found.cells].map(text).join(" | "));
    const graph = document.getElementById("graph");
    say("peers", [...graph.querySelectorAll("circle")].map((circle) => circle.getAttribute("class").trim()).join(""));
    say("names", [...graph.querySelectorAll("text")].map(text).join(" "));
    say("links", ((graph.querySelector("path") || document.createElement("p")).getAttribute("d") || "").split("M").length - 1);
    for (const found of at("#curves path")) say("curve", `${found.getAttribute("class")} of ${found.dataset.points}`);
    say("happened", document.getElementById("happened").textContent);
    for (const found of at("#lines li")) say("line", text(found));
    return lines;
  },

  // Where the drawings are that no font moves within: x, y, width, height.
  places() {
    const shown = ["graph", "curves"].filter((id) => !document.getElementById(id).closest("[hidden]"));
    return [[0, 0, 16, 16], ...shown.map((id) => {
      const place = document.getElementById(id).getBoundingClientRect();
      return [place.x + scrollX, place.y + scrollY, place.width, place.height].map(Math.round);
    })];
  },

  async pixels(png) {
    const image = new Image();
    image.src = `data:image/png;base64,${png}`;
    await image.decode();
    const canvas = new OffscreenCanvas(image.width, image.height), context = canvas.getContext("2d", { willReadFrequently: true });
    context.drawImage(image, 0, 0);
    return context.getImageData(0, 0, image.width, image.height);
  },

  // The share of squares of 8 pixels whose mean colours differ, in every place; 1 where a place has another size.
  async difference(a, placesOfA, b, placesOfB) {
    const side = 8, from = await this.pixels(a), to = await this.pixels(b);
    const mean = (of, x, y) => {
      const sum = [0, 0, 0];
      for (let row = y; row < y + side; row += 1) for (let column = x; column < x + side; column += 1) for (let c = 0; c < 3; c += 1) sum[c] += of.data[4 * (row * of.width + column) + c];
      return sum.map((value) => value / side ** 2);
    };
    if (placesOfA.length !== placesOfB.length) return [1];
    return placesOfA.map(([x, y, width, height], k) => {
      const [u, v, w, h] = placesOfB[k];
      if (Math.abs(width - w) > 1 || Math.abs(height - h) > 1 || y + height > from.height || v + h > to.height) return 1;
      let all = 0, other = 0;
      for (let down = 0; down + side <= Math.min(height, h); down += side) for (let right = 0; right + side <= Math.min(width, w); right += side) {
        const one = mean(from, x + right, y + down), two = mean(to, u + right, v + down);
        all += 1;
        if (one.some((value, c) => Math.abs(value - two[c]) > 24)) other += 1;
      }
      return other / all;
    });
  },

  // The same picture in at most 256 colours: one after the other that which is furthest from those before, weighted by how often it occurs.
  async reduced(png) {
    const { data, width, height } = await this.pixels(png);
    const counts = new Map();
    for (let i = 0; i < data.length; i += 4) {
      const colour = (data[i] << 16) | (data[i + 1] << 8) | data[i + 2];
      counts.set(colour, (counts.get(colour) || 0) + 1);
    }
    const parts = (colour) => [colour >> 16, (colour >> 8) & 255, colour & 255];
    const all = [...counts].sort((a, b) => b[1] - a[1] || a[0] - b[0]).map(([colour, count]) => ({ colour, count, own: parts(colour), nearest: 0, far: Infinity }));
    const palette = [];
    while (palette.length < 256) {
      const next = palette.length ? all.reduce((best, one) => (one.count * one.far > best.count * best.far ? one : best)) : all[0];
      if (next.far === 0) break;
      palette.push(next.colour);
      for (const one of all) {
        const far = one.own.reduce((sum, value, c) => sum + (value - next.own[c]) ** 2, 0);
        if (far < one.far) { one.far = far; one.nearest = palette.length - 1; }
      }
    }
    const nearest = new Map(all.map((one) => [one.colour, one.nearest]));
    const raw = new Uint8Array(height * (width + 1));
    for (let row = 0; row < height; row += 1) for (let column = 0; column < width; column += 1) {
      const i = 4 * (row * width + column);
      raw[row * (width + 1) + 1 + column] = nearest.get((data[i] << 16) | (data[i + 1] << 8) | data[i + 2]);
    }
    const packed = new Uint8Array(await new Response(new Blob([raw]).stream().pipeThrough(new CompressionStream("deflate"))).arrayBuffer());
    const table = Array.from({ length: 256 }, (_, n) => { for (let k = 0; k < 8; k += 1) n = n & 1 ? 0xedb88320 ^ (n >>> 1) : n >>> 1; return n >>> 0; });
    const number = (value) => [value >>> 24, (value >>> 16) & 255, (value >>> 8) & 255, value & 255];
    const chunk = (name, content) => {
      const body = [...name].map((c) => c.charCodeAt(0)).concat([...content]);
      const check = body.reduce((sum, byte) => table[(sum ^ byte) & 255] ^ (sum >>> 8), 0xffffffff) ^ 0xffffffff;
      return [...number(content.length), ...body, ...number(check)];
    };
    const bytes = [137, 80, 78, 71, 13, 10, 26, 10, ...chunk("IHDR", [...number(width), ...number(height), 8, 3, 0, 0, 0]), ...chunk("PLTE", palette.flatMap(parts)), ...chunk("IDAT", packed), ...chunk("IEND", [])];
    let text = "";
    for (const byte of bytes) text += String.fromCharCode(byte);
    return btoa(text);
  },
};

// Draws the picture that the server sends. Every number that is drawn stands in a data attribute as it came, so that a test can read it.
"use strict";
const SVG = "http://www.w3.org/2000/svg";
const STATES = [["w", "waiting"], ["p", "has published"], ["r", "has the sum"], ["f", "finished"], ["d", "crashed, or its disk failed"], ["b", "is back"], ["x", "ended without a result"]];
const PHASES = { running: "running", measuring: "done; being measured", done: "done", failed: "ended without a result" };
const at = (id) => document.getElementById(id);
let scene = null, circles = [], shown = "", chosen = -1, picture = null, drawn = 0;

function element(name, attributes, parent) {
  const made = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  if (parent) parent.appendChild(made);
  return made;
}

function digits(value) {
  if (value === null || value === undefined) return "-";
  if (Number.isInteger(value)) return value.toLocaleString("en");
  return Number(value.toPrecision(4)).toString();
}

function amount(bytes) {
  const units = ["B", "kB", "MB", "GB", "TB"];
  let unit = 0;
  while (bytes >= 1000 && unit < units.length - 1) { bytes /= 1000; unit += 1; }
  return `${unit ? bytes.toPrecision(3) : bytes} ${units[unit]}`;
}

function setting() {
  document.title = `${scene.name}, live`;
  at("name").textContent = scene.name;
  at("setting").textContent = `${scene.peers.toLocaleString("en")} peers, ${scene.edges.toLocaleString("en")} links, engine ${scene.engine}, rank ${scene.rank}, ${scene.iterations} iterations`;
  at("promise").textContent = scene.promise || "nothing is protected: a run without noise";
  at("controls").hidden = !scene.steps;
  const legend = at("legend");
  for (const [letter, words] of STATES) {
    const item = document.createElement("li");
    const mark = element("svg", { viewBox: "0 0 14 14", "aria-hidden": "true" }, item);
    element("circle", { cx: 7, cy: 7, r: 6, class: letter }, mark);
    item.append(words);
    legend.appendChild(item);
  }
  const graph = at("graph");
  if (scene.places.length === 0) {
    const note = element("text", { x: 20, y: 40 }, graph);
    note.textContent = "too many peers or links to draw; the figures count them";
    graph.setAttribute("viewBox", "0 0 1000 70");
    at("chosen").hidden = true;
    return;
  }
  const x = (u) => 20 + 960 * scene.places[2 * u], y = (u) => 20 + 660 * scene.places[2 * u + 1];
  const path = scene.links.map(([u, v]) => `M${x(u).toFixed(1)} ${y(u).toFixed(1)}L${x(v).toFixed(1)} ${y(v).toFixed(1)}`).join("");
  element("path", { d: path, class: "links" }, graph);
  const most = Math.max(...scene.epsilon, 0), size = Math.max(3, Math.min(14, 260 / Math.sqrt(scene.names.length)));
  for (let u = 0; u < scene.names.length; u += 1) {
    // The area of a peer is its loss, against the largest.
    const share = most > 0 ? Math.sqrt(scene.epsilon[u] / most) : 1;
    const circle = element("circle", { cx: x(u).toFixed(1), cy: y(u).toFixed(1), r: (size * Math.max(0.35, share)).toFixed(1), class: "w" }, graph);
    circle.addEventListener("pointerenter", () => choose(u));
    circles.push(circle);
  }
  graph.setAttribute("tabindex", "0");
  graph.addEventListener("keydown", (event) => {
    const step = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
    if (!step) return;
    event.preventDefault();
    choose((Math.max(chosen, step < 0 ? 0 : -1) + step + circles.length) % circles.length);
  });
}

function describe(u) {
  const state = STATES.find(([letter]) => picture && letter === picture.peers[u]);
  const release = picture && picture.reached[u] ? `, release ${picture.reached[u]}` : "";
  const loss = scene.epsilon.length ? `, loses epsilon ${digits(scene.epsilon[u])}` : "";
  at("chosen").textContent = `Peer ${scene.names[u]}: ${state ? state[1] : "waiting"}${release}${loss}`;
}

function choose(u) {
  if (circles[chosen]) circles[chosen].classList.remove("chosen");
  chosen = u;
  circles[u].classList.add("chosen");
  describe(u);
}

function figures(list) {
  const into = at("figures");
  for (const [key, words, value, text] of list) {
    let place = into.querySelector(`dd[data-key="${key}"]`);
    if (!place) {
      const term = document.createElement("dt");
      term.textContent = words;
      place = document.createElement("dd");
      place.dataset.key = key;
      into.append(term, place);
    }
    place.dataset.value = value === null || value === undefined ? "null" : String(value);
    place.textContent = text === undefined ? digits(value) : text;
  }
}

function curves(releases) {
  const into = at("curves");
  into.querySelectorAll("path,line,text").forEach((old) => old.remove());
  const series = ["change", "disagreement"].map((key) => releases.map((line, i) => [i, line[key]]).filter(([, value]) => value > 0));
  const values = series.flat().map(([, value]) => Math.log10(value));
  if (values.length === 0) return;
  const low = Math.floor(Math.min(...values)), high = Math.max(low + 1, Math.ceil(Math.max(...values)));
  const x = (i) => 90 + 890 * (releases.length > 1 ? i / (releases.length - 1) : 0.5), y = (value) => 20 + 270 * (high - Math.log10(value)) / (high - low);
  const every = Math.max(1, Math.ceil((high - low) / 6));
  for (let power = low; power <= high; power += every) {
    element("line", { x1: 90, x2: 980, y1: y(10 ** power), y2: y(10 ** power), class: "grid" }, into);
    element("text", { x: 80, y: y(10 ** power) + 6, "text-anchor": "end" }, into).textContent = `1e${power}`;
  }
  series.forEach((points, k) => {
    if (points.length === 0) return;
    const path = points.map(([i, value], n) => `${n ? "L" : "M"}${x(i).toFixed(1)} ${y(value).toFixed(1)}`).join("");
    element("path", { d: points.length > 1 ? path : `${path}h1`, class: k ? "disagreement" : "change", "data-points": points.length }, into);
  });
}

function rows(releases) {
  const body = at("releases").tBodies[0];
  while (body.rows.length > releases.length) body.deleteRow(-1);
  for (const line of releases.slice(body.rows.length)) {
    const row = body.insertRow();
    for (const text of [line.release, line.iteration, digits(line.sigma), digits(line.change), digits(line.disagreement), amount(line.bytes)]) row.insertCell().textContent = text;
  }
}

function draw() {
  const { phase, done, total, peers, last } = picture;
  at("phase").textContent = picture.paused && phase === "running" ? "paused" : PHASES[phase];
  at("phase").dataset.phase = phase;
  at("clock").textContent = picture.micros ? `virtual time ${digits(picture.micros / 1e6)} s` : "";
  at("progress").max = Math.max(total, 1);
  at("progress").value = phase === "done" ? Math.max(total, 1) : done;
  at("pause").textContent = picture.paused ? "Go on" : "Pause";
  for (const id of ["step", "leap"]) at(id).disabled = !picture.paused || phase !== "running";
  at("pause").disabled = phase !== "running";
  for (let u = 0; u < circles.length; u += 1) if (peers[u] !== shown[u]) circles[u].setAttribute("class", peers[u] + (u === chosen ? " chosen" : ""));
  shown = peers;
  if (chosen >= 0) describe(chosen);
  const count = (letter) => peers.split(letter).length - 1;
  const releases = picture.releases, sent = releases.length ? releases[releases.length - 1].bytes : 0;
  figures([["drawn", "pictures", drawn += 1], ["releases", "releases", releases.length], ["finished", "peers that have finished", count("f")], ["down", "peers that are down", count("d")]]);
  figures(last ? [
    ["epsilon", "epsilon", last.epsilon], ["delta", "delta", last.delta], ["relative_error", "relative error (measured on the raw data: not private)", last.relative_error],
    ["subspace_error", "subspace error (likewise)", last.subspace_error], ["iterations", "iterations", last.iterations], ["messages", "messages", last.messages],
    ["bytes_total", "bytes sent", last.bytes_total, amount(last.bytes_total)], ["bytes_max_peer", "by the busiest peer", last.bytes_max_peer, amount(last.bytes_max_peer)],
    ["max_disagreement", "peers disagree by at most", last.max_disagreement], ["crashes", "crashes", last.crashes], ["restarts", "restarts", last.restarts],
  ] : [["bytes_total", "bytes sent, as planned", sent, amount(sent)]]);
  rows(releases);
  curves(releases);
  const lines = at("lines"), first = picture.happened - picture.lines.length;
  at("happened").textContent = picture.happened ? `${picture.happened} events${first > 0 ? `, the last ${picture.lines.length} below` : ""}.` : "Nothing so far.";
  at("happened").dataset.value = String(picture.happened);
  lines.replaceChildren(...picture.lines.slice().reverse().map((line) => {
    const item = document.createElement("li");
    item.textContent = `${digits(line.micros / 1e6)} s: ${line.text}`;
    return item;
  }));
  if (picture.error) at("clock").textContent = picture.error;
}

function press(what) { fetch(what, { method: "POST" }); }
at("pause").addEventListener("click", () => press(picture && picture.paused ? "resume" : "pause"));
at("step").addEventListener("click", () => press("step"));
at("leap").addEventListener("click", () => press("leap"));
document.addEventListener("keydown", (event) => {
  const button = { p: "pause", s: "step", l: "leap" }[event.key];
  if (button && scene && scene.steps && !event.ctrlKey && !event.metaKey && !event.altKey) at(button).click();
});

fetch("scene").then((answer) => answer.json()).then((found) => {
  scene = found;
  setting();
  let asked = false;
  const source = new EventSource("events");
  source.onmessage = (message) => {
    picture = JSON.parse(message.data);
    // A hidden page draws nothing; a slow one draws the latest.
    if (!asked) { asked = true; requestAnimationFrame(() => { asked = false; draw(); }); }
    if (picture.phase === "done" || picture.phase === "failed") { source.close(); draw(); }
  };
  source.onerror = () => { if (!picture || (picture.phase !== "done" && picture.phase !== "failed")) at("phase").textContent = "the program has ended, or cannot be reached"; };
});

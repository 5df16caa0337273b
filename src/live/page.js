// Draws the picture that the server sends. Every number that is drawn stands in a data attribute as it came, so that a test can read it.
"use strict";
const SVG = "http://www.w3.org/2000/svg";
const STATES = { run: [["w", "waiting"], ["p", "has published"], ["r", "has the sum"], ["f", "finished"], ["d", "crashed, or its disk failed"], ["b", "is back"], ["x", "ended without a result"]],
  node: [["o", "this member"], ["c", "connected"], ["m", "waited for"], ["n", "not connected"], ["w", "reached through others"], ["f", "has the result"], ["x", "takes part no more"]] };
const PHASES = { run: { running: "running", measuring: "done; being measured", done: "done", failed: "ended without a result" },
  node: { absent: "no node runs on this state directory", starting: "starting", agreeing: "agreeing", running: "running", done: "done", ended: "the node has stopped" } };
// Graphs of at most so many peers have their names beside them.
const MOST_NAMES = 32;
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

const RAISED = "⁰¹²³⁴⁵⁶⁷⁸⁹";
function power(exponent) {
  if (exponent === 0) return "1";
  return `10${exponent < 0 ? "⁻" : ""}${[...String(Math.abs(exponent))].map((digit) => RAISED[digit]).join("")}`;
}

function line() {
  if (scene.kind === "run") return `${scene.peers.toLocaleString("en")} peers, ${scene.edges.toLocaleString("en")} links, engine ${scene.engine}, rank ${scene.rank}, ${scene.iterations} iterations`;
  if (!scene.session) return "nothing is known of a session yet";
  return `${scene.peers} members${scene.edges ? `, ${scene.edges} links` : ""}; you are ${scene.own}; session ${scene.session.slice(0, 16)}`;
}

// Once for a run; for a node whenever the session is another, or is agreed on.
function setting() {
  const isRun = scene.kind === "run";
  document.title = `${scene.name || "Undertone"}, live`;
  at("name").textContent = scene.name || "Undertone";
  at("setting").textContent = line();
  at("promise").textContent = scene.promise || (isRun ? "nothing is protected: a run without noise" : "what it promises is known when it is planned");
  at("controls").hidden = !scene.steps;
  at("convergence").hidden = !isRun;
  at("journal").hidden = isRun;
  at("run-heading").textContent = isRun ? "The run" : "The session";
  at("lines-heading").textContent = isRun ? "What went wrong" : "What has happened";
  const legend = at("legend");
  legend.replaceChildren();
  for (const [letter, words] of STATES[scene.kind]) {
    const item = document.createElement("li");
    const mark = element("svg", { viewBox: "0 0 14 14", "aria-hidden": "true" }, item);
    element("circle", { cx: 7, cy: 7, r: 6, class: letter }, mark);
    item.append(words);
    legend.appendChild(item);
  }
  const graph = at("graph");
  graph.querySelectorAll("path,circle,text").forEach((old) => old.remove());
  circles = []; shown = ""; chosen = -1;
  const isDrawn = scene.places.length > 0;
  graph.setAttribute("viewBox", isDrawn ? "0 0 1000 700" : "0 0 1000 70");
  at("chosen").hidden = !isDrawn;
  at("chosen").textContent = "Choose a peer with a pointer, or with the arrow keys once the graph has the focus.";
  if (!isDrawn) {
    element("text", { x: 20, y: 40 }, graph).textContent = scene.peers ? "too many peers or links to draw; the figures count them" : "there is no graph yet";
    return;
  }
  const isNamed = scene.names.length <= MOST_NAMES, margin = isNamed ? 80 : 20;
  const x = (u) => margin + (1000 - 2 * margin) * scene.places[2 * u], y = (u) => 30 + (isNamed ? 610 : 640) * scene.places[2 * u + 1];
  const path = scene.links.map(([u, v]) => `M${x(u).toFixed(1)} ${y(u).toFixed(1)}L${x(v).toFixed(1)} ${y(v).toFixed(1)}`).join("");
  element("path", { d: path, class: `links ${scene.links.length <= 100 ? "few" : scene.links.length > 1000 ? "many" : ""}` }, graph);
  const losses = scene.epsilon || [];
  const most = Math.max(...losses, 0), size = Math.max(3, Math.min(22, Math.max(14, 60 / Math.sqrt(scene.names.length)), 200 / Math.sqrt(scene.names.length)));
  for (let u = 0; u < scene.names.length; u += 1) {
    // The area of a peer is its loss, against the largest.
    const share = most > 0 ? Math.sqrt(losses[u] / most) : 1;
    const circle = element("circle", { cx: x(u).toFixed(1), cy: y(u).toFixed(1), r: (size * Math.max(0.35, share)).toFixed(1), class: "w" }, graph);
    circle.addEventListener("pointerenter", () => choose(u));
    circles.push(circle);
    if (isNamed) element("text", { x: x(u).toFixed(1), y: (y(u) + size + 24).toFixed(1), class: "name" }, graph).textContent = scene.names[u];
  }
}

// Arrow keys go from peer to peer.
at("graph").addEventListener("keydown", (event) => {
  const step = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
  if (!step || circles.length === 0) return;
  event.preventDefault();
  choose((Math.max(chosen, step < 0 ? 0 : -1) + step + circles.length) % circles.length);
});

function describe(u) {
  const state = STATES[scene.kind].find(([letter]) => picture && letter === picture.peers[u]);
  const release = picture && picture.reached && picture.reached[u] ? `, release ${picture.reached[u]}` : "";
  const loss = scene.epsilon && scene.epsilon.length ? `, loses epsilon ${digits(scene.epsilon[u])}` : "";
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
      place = document.createElement("dd");
      place.dataset.key = key;
      into.append(term, place);
    }
    place.previousSibling.textContent = words;
    place.dataset.value = value === null || value === undefined ? "null" : String(value);
    place.textContent = text ?? digits(value);
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
  for (let exponent = high; exponent >= low; exponent -= every) {
    element("line", { x1: 90, x2: 980, y1: y(10 ** exponent), y2: y(10 ** exponent), class: "grid" }, into);
    element("text", { x: 80, y: y(10 ** exponent) + 8, "text-anchor": "end" }, into).textContent = power(exponent);
  }
  // A number under the first and the last release, and under as many between them as have room.
  const apart = Math.max(1, Math.ceil(releases.length / 12));
  releases.forEach((line, i) => {
    if (i % apart && i !== releases.length - 1) return;
    if (i % apart === 0 && i !== releases.length - 1 && releases.length - 1 - i < apart / 2) return;
    element("text", { x: x(i), y: 322, "text-anchor": "middle", class: "release" }, into).textContent = line.release;
  });
  element("text", { x: 535, y: 352, "text-anchor": "middle" }, into).textContent = "release";
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

// The latest line first.
function happened() {
  const first = picture.happened - picture.lines.length;
  const ended = picture.phase === "done" || picture.phase === "failed", none = scene.kind === "run" ? "Nothing went wrong." : "Nothing happened.";
  at("happened").textContent = picture.happened ? `${picture.happened} events, the latest first${first > 0 ? `; the last ${picture.lines.length} are here` : ""}.` : ended ? none : "Nothing so far.";
  at("happened").dataset.value = String(picture.happened);
  at("lines").hidden = picture.lines.length === 0;
  at("lines").replaceChildren(...picture.lines.slice().reverse().map((line) => {
    const item = document.createElement("li"), time = document.createElement("span");
    time.textContent = `${digits(line.micros / 1e6)} s`;
    item.append(time, line.text);
    return item;
  }));
}

// What the picture of a node has and that of a run has not.
function drawNode() {
  const { phase, step, missing, figures: list, sessions, all_sessions: all } = picture;
  at("clock").textContent = [step, missing.length ? `waiting for ${missing.slice(0, 8).join(", ")}${missing.length > 8 ? ` and ${missing.length - 8} more` : ""}` : ""].filter((text) => text).join("; ");
  at("progress").hidden = phase === "absent" || picture.total === 0;
  at("progress").value = picture.done;
  figures(list);
  at("sessions-caption").textContent = all > sessions.length ? `${sessions.length} of ${all}` : all ? `${all} in all` : "None yet.";
  const body = at("sessions").tBodies[0];
  body.replaceChildren();
  for (const one of sessions) {
    const row = body.insertRow();
    for (const text of [one.session.slice(0, 8), one.stage, one.scope ?? "-", digits(one.charged), digits(one.reserved)]) row.insertCell().textContent = text;
  }
}

// Near 1 the number alone says to few that a direction was not found.
function missed(angle) {
  return angle === null ? "subspace error (likewise)" : `subspace error (likewise): a leading direction was not found, its angle is ${Math.round(angle)}°`;
}

function drawRun() {
  const { phase, total, peers, last, releases } = picture;
  const count = (letter) => peers.split(letter).length - 1;
  const sent = releases.length ? releases[releases.length - 1].bytes : 0;
  at("clock").textContent = picture.micros ? `virtual time ${digits(picture.micros / 1e6)} s` : "";
  at("progress").value = phase === "done" ? Math.max(total, 1) : picture.done;
  at("pause").textContent = picture.paused ? "Go on" : "Pause";
  for (const id of ["step", "leap"]) at(id).disabled = !picture.paused || phase !== "running";
  at("pause").disabled = phase !== "running";
  figures([["releases", "releases", releases.length], ["finished", "peers that have finished", count("f")], ["down", "peers that are down", count("d")]]);
  figures(last ? [
    ["epsilon", "epsilon", last.epsilon], ["delta", "delta", last.delta], ["relative_error", "relative error (measured on the raw data: not private)", last.relative_error],
    ["subspace_error", missed(last.missed_angle), last.subspace_error], ["iterations", "iterations", last.iterations], ["messages", "messages", last.messages],
    ["bytes_total", "bytes sent", last.bytes_total, amount(last.bytes_total)], ["bytes_max_peer", "by the busiest peer", last.bytes_max_peer, amount(last.bytes_max_peer)],
    ["max_disagreement", "peers disagree by at most", last.max_disagreement], ...(last.crashes === null ? [] : [["crashes", "crashes", last.crashes], ["restarts", "restarts", last.restarts]]),
  ] : [["bytes_total", "bytes sent, as planned", sent, amount(sent)]]);
  rows(releases);
  curves(releases);
}

function draw() {
  const { phase, peers } = picture;
  at("phase").textContent = picture.paused && phase === "running" ? "paused" : PHASES[scene.kind][phase];
  at("phase").dataset.phase = phase;
  // How often this page was drawn.
  document.body.dataset.drawn = String(drawn += 1);
  at("progress").max = Math.max(picture.total, 1);
  for (let u = 0; u < circles.length; u += 1) if (peers[u] !== shown[u]) circles[u].setAttribute("class", peers[u] + (u === chosen ? " chosen" : ""));
  shown = peers;
  if (chosen >= 0) describe(chosen);
  if (scene.kind === "run") drawRun(); else drawNode();
  happened();
  at("error").hidden = !picture.error;
  at("error").textContent = picture.error || "";
}

function press(what) { fetch(what, { method: "POST" }); }
at("pause").addEventListener("click", () => press(picture && picture.paused ? "resume" : "pause"));
at("step").addEventListener("click", () => press("step"));
at("leap").addEventListener("click", () => press("leap"));
document.addEventListener("keydown", (event) => {
  const button = { p: "pause", s: "step", l: "leap" }[event.key];
  if (button && scene && scene.steps && !event.ctrlKey && !event.metaKey && !event.altKey) at(button).click();
});

// A run has one end; a node may start again.
const isOver = () => scene.kind === "run" && picture && (picture.phase === "done" || picture.phase === "failed");

async function begin() {
  scene = await (await fetch("scene")).json();
  setting();
  let asked = false;
  const source = new EventSource("events");
  const show = async () => {
    asked = false;
    if (scene.kind === "node" && picture.scene !== scene.version) {
      scene = await (await fetch("scene")).json();
      setting();
    }
    draw();
  };
  source.onmessage = (message) => {
    picture = JSON.parse(message.data);
    // A hidden page draws nothing; a slow one draws the latest.
    if (!asked) { asked = true; requestAnimationFrame(show); }
    if (isOver()) { source.close(); draw(); }
  };
  source.onerror = () => { if (!isOver()) at("phase").textContent = "the program has ended, or cannot be reached"; };
}
begin();

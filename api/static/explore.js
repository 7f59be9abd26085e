// Makes the explorer's figure answer to pointer, finger and arrow keys, and its form show at once what is chosen.
// Without this script the figure is a drawing, and the form has a button.

const SNAP = 7; // pixels within which the cross-hair goes to a window
const STEP = 6; // pixels of an arrow key

// A share in per cent as releases/formatting.py writes it: three significant digits, or as many as keep it below 100.
function percent(share) {
  let digits = 3;
  while (share < 1 && Number((100 * share).toPrecision(digits)) === 100) digits += 1;
  return `${(100 * share).toPrecision(digits)}\u202f%`;
}

function bytes(size) {
  const unit = Math.min(3, Math.max(0, Math.floor(Math.log10(size) / 3 + 1e-9)));
  return `${Number((size / 1000 ** unit).toPrecision(3))}\u202f${["B", "kB", "MB", "GB"][unit]}`;
}

// The text at an address, and the address that it has; an Error names the parameter that is wrong, if one is.
async function ask(address) {
  const headers = { Accept: "application/problem+json, */*" };
  const answer = await fetch(address, { headers }).catch(() => {
    throw new Error("the service does not answer; press Show to ask again");
  });
  if (answer.ok) return { text: await answer.text(), url: answer.url };
  const { detail = `the service answered ${answer.status}`, errors } = await answer.json().catch(() => ({}));
  throw Object.assign(new Error(errors?.[0].detail ?? detail), { parameter: errors?.[0].parameter });
}

// The curves of each measure: a release and its steps, each a size, a share and the ends of its interval.
function curvesOf(csv) {
  const measures = {};
  for (const line of csv.trim().split("\r\n").slice(1)) {
    const [release, measure, size, cdf, , lower, upper] =
      [...line.matchAll(/(?:"((?:[^"]|"")*)"|([^,]*))(?:,|$)/g)].map(([, quoted, plain]) => quoted?.replaceAll('""', '"') ?? plain);
    ((measures[measure] ??= {})[release] ??= []).push([+size, +cdf, lower, upper]);
  }
  return measures;
}

function at(steps, size) {
  let low = 0, high = steps.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (steps[middle][0] <= size) low = middle + 1; else high = middle;
  }
  return low ? steps[low - 1] : [0, 0, "", ""];
}

function element(name, attributes, parent) {
  const made = document.createElementNS("http://www.w3.org/2000/svg", name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  parent.append(made);
  return made;
}

async function enliven(figure) {
  const width = figure.clientWidth;
  const [{ text: svg }, { text: csv }] = await Promise.all([
    ask(`${figure.dataset.svg}&width=${Math.max(360, Math.round(width))}`),
    ask(figure.dataset.csv),
  ]);
  if (!figure.isConnected) return; // another choice took its place
  // The page's style sheet has the colours, and its policy allows no other.
  const plain = svg.replace(/<style>[^]*?<\/style>/, "");
  const drawing = document.importNode(new DOMParser().parseFromString(plain, "image/svg+xml").documentElement, true);
  drawing.setAttribute("role", "img");
  drawing.setAttribute("aria-label", drawing.querySelector("title").textContent);
  drawing.querySelector("title").remove(); // a browser would show it beside the readout
  const curves = curvesOf(csv);
  const [low, high] = drawing.dataset.decades.split(" ").map(Number);
  const names = [...drawing.querySelector("svg").querySelectorAll("text")].map(one => one.textContent);
  const stage = document.createElement("div");
  stage.className = "stage";
  stage.append(drawing);
  const readout = document.createElement("div");
  readout.className = "readout";
  readout.setAttribute("role", "status");
  readout.hidden = true;
  const panels = [...drawing.querySelectorAll("g[data-measure]")].map(g => {
    const grid = [...g.querySelectorAll(".grid")];
    const [width, height] = [+grid[0].getAttribute("x2"), Math.max(...grid.map(line => +line.getAttribute("y1")))];
    const windows = [...g.querySelectorAll("line.mark")].map(line => ({ x: +line.getAttribute("x1"), size: +line.dataset.size }));
    const hair = element("g", { class: "hair", visibility: "hidden" }, g);
    element("line", { y2: height }, hair);
    element("rect", { width, height, fill: "transparent" }, g);
    const own = Object.entries(curves[g.dataset.measure] ?? {})
      .map(([release, steps]) => ({ release, steps, style: names.findIndex(name => release.replace(/^'/, "") === name) }));
    for (const one of own) one.dot = element("circle", { r: 4, class: `b${one.style}` }, hair);
    return { g, width, height, windows, hair, own };
  });

  function show(panel, x) {
    const near = panel.windows.find(window => Math.abs(window.x - x) < SNAP);
    panel.at = x = near?.x ?? Math.max(0, Math.min(panel.width, x));
    const size = near?.size ?? 10 ** (low + (x / panel.width) * (high - low));
    for (const { hair, own, height } of panels) {
      hair.setAttribute("visibility", "visible");
      hair.querySelector("line").setAttribute("transform", `translate(${x} 0)`);
      for (const { dot, steps } of own) {
        dot.setAttribute("cx", x);
        dot.setAttribute("cy", (1 - at(steps, size)[1]) * height);
      }
    }
    const label = near ? panel.g.querySelectorAll("text.window")[panel.windows.indexOf(near)].textContent : "";
    const rows = panel.own.map(({ release, steps, style }) => {
      const [, share, lower, upper] = at(steps, size);
      const row = document.createElement("p");
      const mark = document.createElement("i");
      mark.className = `key-${style}`;
      const value = document.createElement("b");
      value.textContent = percent(share);
      const ends = lower === "" ? "" : ` (${percent(+lower).replace("\u202f%", "")} to ${percent(+upper)})`;
      row.append(mark, value, ends, names.length > 1 ? ` ${names[style]}` : "");
      return row;
    });
    const head = document.createElement("p");
    head.textContent = `up to ${bytes(size)}${label && `, IW ${label.replace("IW ", "")}`}`;
    readout.replaceChildren(head, ...rows);
    readout.hidden = false;
    const frame = stage.getBoundingClientRect();
    const point = new DOMPoint(x, 0).matrixTransform(panel.g.getScreenCTM());
    // A CDF leaves room at the lower right and at the upper left.
    const left = point.x - frame.left + 14;
    const isLeft = left + readout.offsetWidth > frame.width;
    readout.style.left = `${Math.max(0, isLeft ? left - readout.offsetWidth - 28 : left)}px`;
    readout.style.top = `${point.y - frame.top + (isLeft ? 8 : panel.height - readout.offsetHeight - 8)}px`;
  }

  function hide() {
    readout.hidden = true;
    for (const { hair } of panels) hair.setAttribute("visibility", "hidden");
  }

  for (const panel of panels) {
    panel.g.addEventListener("pointermove", event => {
      show(panel, new DOMPoint(event.clientX, event.clientY).matrixTransform(panel.g.getScreenCTM().inverse()).x);
    });
    panel.g.addEventListener("pointerdown", event => panel.g.dispatchEvent(new PointerEvent("pointermove", event)));
  }
  stage.addEventListener("pointerleave", event => event.pointerType === "mouse" && hide());
  stage.addEventListener("keydown", event => {
    const way = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
    if (event.key === "Escape") hide();
    if (!way) return;
    event.preventDefault();
    const panel = panels[0];
    const from = panel.at ?? panel.width / 2;
    // Past a window by more than what would draw it back.
    show(panel, from + way * (panel.windows.some(window => window.x === from) ? SNAP + 1 : STEP));
  });
  stage.tabIndex = 0;
  stage.setAttribute("role", "group");
  stage.setAttribute("aria-label", "Figure; arrow keys move along the sizes");
  const picture = figure.querySelector("picture");
  stage.append(readout);
  picture.replaceWith(stage);
  // In another width the letters would have another size: the picture is shown until the figure is drawn for it.
  const watch = new ResizeObserver(() => {
    // A figure whose place another took has no width.
    if (!figure.clientWidth || Math.abs(figure.clientWidth - width) < 2) return;
    watch.disconnect();
    stage.replaceWith(picture);
    setTimeout(begin, 200, figure);
  });
  watch.observe(figure);
}

// A button behind each text that readers take away, where the browser lets a page write to the clipboard.
function offerCopies() {
  if (!navigator.clipboard) return;
  for (const source of document.querySelectorAll("[data-copy]")) {
    const button = document.createElement("button");
    button.type = "button";
    button.className = "copy";
    button.textContent = "Copy";
    button.addEventListener("click", async () => {
      await navigator.clipboard.writeText(source.textContent);
      button.textContent = "Copied";
    });
    (source.closest("a") ?? source).insertAdjacentElement(source.matches("pre") ? "beforebegin" : "afterend", button);
  }
}

const form = document.querySelector("form.choice");

const state = document.createElement("p");
state.id = "state";
state.className = "wrong";
state.role = "alert";

// Says what is wrong: at a control that is given, and else above the figure.
function say(message, control) {
  for (const one of form.querySelectorAll("[aria-invalid]")) one.removeAttribute("aria-invalid");
  state.textContent = "";
  if (control) {
    control.closest("fieldset, p").append(state);
    control.setAttribute("aria-invalid", true);
    control.setAttribute("aria-describedby", state.id);
  } else {
    document.getElementById("figure").before(state);
  }
  state.textContent = message && `${message[0].toUpperCase()}${message.slice(1)}.`;
  if (control) state.scrollIntoView({ block: "nearest" });
}

async function begin(figure = document.getElementById("figure")) {
  try {
    await enliven(figure);
  } catch (error) {
    if (figure.isConnected) say(`the figure stays a drawing: ${error.message}`);
  }
}

const isSame = (one, other) => one.name === other.name && one.type === other.type && (one.type !== "checkbox" || one.value === other.value);

// Shows the choice that a page has. A text that was changed since it was sent stays.
function take(page, sent) {
  const focused = document.activeElement;
  const hasLost = document.getElementById("chosen").contains(focused);
  for (const id of ["shown", "chosen", "crawls", "details"]) document.getElementById(id).replaceWith(page.getElementById(id));
  for (const control of form.elements) {
    const chosen = [...page.forms].flatMap(other => [...other.elements]).find(other => isSame(other, control));
    if (!chosen || sent.get(control) !== control.value) continue;
    control.checked = chosen.checked;
    control.value = chosen.value;
  }
  if (hasLost) ([...form.elements].find(control => isSame(control, focused)) ?? form.querySelector(".search input")).focus();
}

// Only the newest choice is shown.
let asked = 0;
let shown = location.search;

async function follow(event) {
  const mine = ++asked;
  const changed = event.type === "change" ? event.target : document.activeElement;
  const sent = new Map([...form.elements].map(control => [control, control.value]));
  const chosen = new URLSearchParams([...new FormData(form)].filter(([, value]) => value !== ""));
  const explorer = form.closest(".explorer");
  explorer.classList.add("stale");
  say("");
  try {
    const { text, url } = await ask(`${form.action}?${chosen}`);
    if (mine !== asked) return;
    const page = new DOMParser().parseFromString(text, "text/html");
    take(page, sent);
    explorer.classList.remove("stale");
    document.title = page.title;
    history.pushState(null, "", url);
    shown = location.search;
    offerCopies();
    await begin();
  } catch (error) {
    if (mine !== asked) return;
    const controls = [changed, ...form.elements].filter(control => form.contains(control));
    say(error.message, controls.find(control => control.name === error.parameter) ?? controls[0]);
  }
}

if (form) {
  form.addEventListener("change", follow);
  form.addEventListener("submit", event => {
    event.preventDefault();
    follow(event);
  });
  // A link within the page is no other choice.
  addEventListener("popstate", () => location.search === shown || location.reload());
  offerCopies();
  begin();
}

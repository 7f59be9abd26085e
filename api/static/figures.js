// Draws the figures of a page with Vega: they answer to pointer, finger and arrow keys. Without this script a figure is a picture.

const STEP = 6; // pixels of an arrow key
const SETTLED_MS = 200;

function element(name, content, attributes = {}) {
  const made = document.createElement(name);
  made.append(...[content].flat());
  return Object.assign(made, attributes);
}

async function fetchSpecification(address) {
  const answer = await fetch(address).catch(() => {
    throw new Error("the service does not answer");
  });
  if (!answer.ok) throw new Error((await answer.json().catch(() => ({}))).detail ?? `the service answered ${answer.status}`);
  return answer.json();
}

// A drawing has the colours for light ground.
function darken(colours) {
  const sheet = new CSSStyleSheet();
  const rules = Object.entries(colours).flatMap(([light, dark]) => ["fill", "stroke"].map(name => `.stage [${name}="${light}"] { ${name}: ${dark}; }`));
  sheet.replaceSync(`@media screen and (prefers-color-scheme: dark) { ${rules.join("\n")} }`);
  document.adoptedStyleSheets = [sheet];
}

// Says the values at the pointer beside it, but for the place along an axis.
function tell(stage, readout, event, value) {
  // What a finger asked for stays when it is lifted; browsers then send the leaving of a mouse, too.
  if (!value && stage.dataset.pointer === "touch") return;
  readout.hidden = !value;
  if (!value) return;
  const said = Object.entries(value).filter(([name]) => name !== "at");
  said.sort(([one], [other]) => (other === "up to") - (one === "up to"));
  readout.replaceChildren(...said.map(([name, text]) => element("p", [`${name} `, element("b", String(text))])));
  const frame = stage.getBoundingClientRect();
  const x = event.clientX - frame.left;
  const isLeft = x + 16 + readout.offsetWidth > frame.width;
  readout.style.left = `${Math.max(0, isLeft ? x - 16 - readout.offsetWidth : x + 16)}px`;
  readout.style.top = `${Math.max(0, Math.min(event.clientY - frame.top - readout.offsetHeight / 2, frame.height - readout.offsetHeight))}px`;
}

// A finger, and a pointer that arrow keys move along the plot, which Vega answers as any other.
function followKeys(stage, drawing, readout) {
  let at = null;
  stage.addEventListener("focusout", () => { readout.hidden = true; });
  drawing.addEventListener("pointerdown", event => event.target.dispatchEvent(new PointerEvent("pointermove", event)));
  drawing.addEventListener("pointermove", event => { stage.dataset.pointer = event.pointerType; }, { capture: true });
  stage.addEventListener("keydown", event => {
    const way = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
    if (!way && event.key !== "Escape") return;
    event.preventDefault();
    readout.hidden = true;
    const plot = drawing.querySelector(".mark-group.role-frame .background, .mark-group .background").getBoundingClientRect();
    at = way ? Math.max(1, Math.min(plot.width - 1, (at ?? plot.width / 2) + way * STEP)) : null;
    const place = { clientX: plot.left + (at ?? -9), clientY: plot.bottom - 3, bubbles: true };
    const target = way ? document.elementFromPoint(place.clientX, place.clientY) : drawing;
    const isInside = drawing.contains(target);
    for (const type of way ? ["pointermove", "mousemove"] : ["pointerout", "mouseout"]) (isInside ? target : drawing).dispatchEvent(new PointerEvent(type, place));
  });
}

async function draw(figure) {
  const width = Math.max(280, Math.round(figure.clientWidth));
  const [{ vegaEmbed }, specification] = await Promise.all([
    import(figure.dataset.vega),
    fetchSpecification(`${figure.dataset.figure}&width=${width}`),
  ]);
  if (!figure.isConnected) return; // another took its place
  const stage = element("div", [], { className: "stage", tabIndex: 0, role: "group" });
  stage.setAttribute("aria-label", "Figure; arrow keys move along it");
  const readout = element("div", [], { className: "readout", role: "status", hidden: true });
  const drawing = element("div", []);
  figure.dataset.alt ??= figure.querySelector("img").alt;
  const described = element("div", drawing, { role: "img", ariaLabel: figure.dataset.alt });
  await vegaEmbed(drawing, specification, {
    mode: "vega-lite",
    actions: false,
    ast: true, // no code is made of expressions
    defaultStyle: false,
    renderer: "svg",
    tooltip: (_, event, __, value) => tell(stage, readout, event, value),
  });
  if (!figure.isConnected) return;
  drawing.ariaHidden = "true"; // the description and the table say it to those who do not see it
  darken(specification.usermeta.dark);
  followKeys(stage, drawing, readout);
  stage.append(described, readout);
  const before = figure.querySelector(".stage");
  const hasFocus = before?.contains(document.activeElement);
  (before ?? figure.querySelector("picture")).replaceWith(stage);
  if (hasFocus) stage.focus({ preventScroll: true });
  return width;
}

// Draws a figure, and again whenever it gets another width: letters would have another size.
async function follow(figure) {
  let width = await draw(figure);
  let settled;
  new ResizeObserver(() => {
    clearTimeout(settled);
    settled = setTimeout(async () => {
      if (!figure.isConnected || !figure.clientWidth || Math.abs(figure.clientWidth - width) < 2) return;
      width = await draw(figure).catch(() => width);
    }, SETTLED_MS);
  }).observe(figure);
}

// Draws all figures of the page; those that cannot be drawn stay pictures, and the first error says why.
export async function drawFigures() {
  await Promise.all([...document.querySelectorAll("[data-figure]:not([data-drawn])")].map(figure => {
    figure.dataset.drawn = "";
    return follow(figure);
  }));
}

if (!document.querySelector("form.choice")) drawFigures().catch(() => {});

// Shows at once what is chosen in the explorer's form. Without this script the form has a button.

import { drawFigures } from "./figures.js";

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

const state = document.getElementById("state");

// Says above the figures what is wrong, and marks the control that it is wrong with.
function say(message, control) {
  for (const one of form.querySelectorAll("[aria-invalid]")) one.removeAttribute("aria-invalid");
  state.textContent = message && `${message[0].toUpperCase()}${message.slice(1)}.`;
  control?.setAttribute("aria-invalid", true);
  control?.setAttribute("aria-describedby", state.id);
  if (message) state.scrollIntoView({ block: "nearest" });
}

async function begin() {
  try {
    await drawFigures();
  } catch (error) {
    say(`the figure stays a drawing: ${error.message}`);
  }
}

const isSame = (one, other) => one.name === other.name && one.type === other.type && (one.type !== "checkbox" || one.value === other.value);

// Shows the choice that a page has. A text that was changed since it was sent stays.
function take(page, sent) {
  const focused = document.activeElement;
  const hasLost = document.getElementById("chosen").contains(focused);
  for (const id of ["shown", "chosen", "crawls", "by", "details"]) document.getElementById(id).replaceWith(page.getElementById(id));
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
  explorer.classList.remove("failed");
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
    explorer.classList.replace("stale", "failed"); // what is shown is not what is chosen
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

// Shows the explorer's figure with Vega where the reader asks for it; without this script the figure is a drawing.
const figure = document.getElementById("figure");
const button = document.getElementById("interactive");
const state = document.getElementById("state");

function load(address) {
  return new Promise((resolve, reject) => {
    const script = document.createElement("script");
    script.src = address;
    script.onload = resolve;
    script.onerror = () => reject(new Error("the library did not load"));
    document.head.append(script);
  });
}

async function show() {
  const hadFocus = document.activeElement === button;
  button.disabled = true;
  state.textContent = "Loading 0.9 MB …";
  try {
    const width = Math.max(360, Math.round(figure.clientWidth) - 20);
    const [answer] = await Promise.all([fetch(`${figure.dataset.spec}&width=${width}`), load(figure.dataset.library)]);
    if (!answer.ok) throw new Error(`the service answered ${answer.status}`);
    const place = document.createElement("div");
    place.className = "interactive";
    place.tabIndex = 0;
    figure.prepend(place);
    // `ast`: expressions are interpreted, since the page's policy allows no code that is made from text.
    await globalThis.vegaEmbed(place, await answer.json(), {
      ast: true,
      actions: false,
      defaultStyle: false,
      renderer: "svg",
      tooltip: { disableDefaultStyle: true },
    });
    figure.querySelector("picture").hidden = true;
    button.remove();
    // Else the keyboard would begin at the top of the page again.
    if (hadFocus) place.focus({ preventScroll: true });
    state.textContent = "Point at a curve for its numbers; turn the wheel or pinch to enlarge, drag to move.";
  } catch (error) {
    figure.querySelector(".interactive")?.remove();
    button.disabled = false;
    if (hadFocus) button.focus({ preventScroll: true });
    state.textContent = `The figure stays as it is: ${error.message}.`;
  }
}

if (button) {
  button.hidden = false;
  button.addEventListener("click", show);
}

/**
 * Draws one Mermaid diagram. This runs in a frame without an origin: it sees neither the page nor the house, and
 * what a diagram might smuggle in stays in here. The page hears whether it worked and how high it became.
 */
const tell = (words) => parent.postMessage(words, "*");

async function draw({ source, dark }) {
  document.documentElement.style.colorScheme = dark ? "dark" : "light";
  mermaid.initialize({
    startOnLoad: false,
    securityLevel: "strict",
    suppressErrorRendering: true,
    theme: dark ? "dark" : "default",
    fontFamily: "system-ui, sans-serif",
  });
  const { svg } = await mermaid.render("diagram", source);
  document.body.innerHTML = svg;
  measure();
}

function measure() {
  const picture = document.body.firstElementChild;
  if (picture) tell({ height: Math.ceil(picture.getBoundingClientRect().height) });
}

addEventListener("message", (event) => {
  if (event.source !== parent) return;
  draw(event.data).catch(() => tell({ failed: true }));
});
addEventListener("resize", measure);
tell({ ready: true });

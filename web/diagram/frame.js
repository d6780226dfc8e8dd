/**
 * Renders one Mermaid diagram in a sandboxed frame without an origin, so that markup in a diagram can reach neither the
 * page nor the API. Reports the height, or that rendering failed, to the page.
 */
const report = (message) => parent.postMessage(message, "*");

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
  const diagram = document.body.firstElementChild;
  if (diagram) report({ height: Math.ceil(diagram.getBoundingClientRect().height) });
}

addEventListener("message", (event) => {
  if (event.source !== parent) return;
  draw(event.data).catch(() => report({ failed: true }));
});
addEventListener("resize", measure);
report({ ready: true });

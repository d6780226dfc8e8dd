"""What axe finds on the page, also what it calls moderate or experimental: headings, regions and visible names."""

from tests.e2e.app_process import ROOT
from tests.e2e.screen import Screen

AXE = ROOT / "web" / "node_modules" / "axe-core" / "axe.min.js"
RUN = """async () => {
  const fading = document.getAnimations().filter((one) => one instanceof CSSTransition);
  await Promise.all(fading.map((one) => one.finished.catch(() => undefined)));
  const { violations } = await axe.run(document, {
    resultTypes: ["violations"],
    rules: { "label-content-name-mismatch": { enabled: true } },
  });
  const named = new Set(["page-has-heading-one", "region", "label-content-name-mismatch", "label"]);
  return violations
    .filter(({ id, impact }) => impact === "serious" || impact === "critical" || named.has(id))
    .map(({ id, nodes }) => `${id}: ${nodes.map((node) => node.html.slice(0, 300)).join(" | ")}`);
}"""


def findings(screen: Screen) -> list[str]:
    """The page must have been opened with `bypass_csp`."""
    if not screen.script("() => 'axe' in window"):
        screen.page.evaluate(AXE.read_text(encoding="utf-8"))
    found: list[str] = screen.page.evaluate(RUN)
    return found

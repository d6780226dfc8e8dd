// Counts what React renders, by the part of the page, through the hook that it offers to its developer tools.
// `pageRenders` has one entry per commit: how many components each part has rendered.
(() => {
  const PARTS = { messages: ".messages", sidebar: ".sidebar", composer: ".composer" };
  const PERFORMED_WORK = 1; // a flag of a fiber whose component function ran
  const COMPONENTS = new Set([0, 1, 11, 14, 15]); // function, class, forwardRef, memo, simple memo

  function count(fiber, before, part, counts) {
    let inside = part;
    if (typeof fiber.type === "string") {
      const found = Object.entries(PARTS).find(([, selector]) => fiber.stateNode.matches(selector));
      inside = found ? found[0] : part;
    } else if (fiber.flags & PERFORMED_WORK && COMPONENTS.has(fiber.tag)) {
      counts[part] = (counts[part] ?? 0) + 1;
    }
    if (before && fiber.child === before.child) return; // nothing below was rendered
    for (let child = fiber.child; child; child = child.sibling) count(child, child.alternate, inside, counts);
  }

  window.pageRenders = [];
  window.__REACT_DEVTOOLS_GLOBAL_HOOK__ = {
    supportsFiber: true,
    inject: () => 1,
    onScheduleFiberRoot() {},
    onCommitFiberUnmount() {},
    onPostCommitFiberRoot() {},
    onCommitFiberRoot(_id, { current }) {
      const counts = {};
      count(current, current.alternate, "page", counts);
      window.pageRenders.push(counts);
    },
  };
})();

/** Where what had the focus is gone for good, the page's content has it, and not nothing. */
export function focusMain(): void {
  document.getElementById("main")?.focus({ preventScroll: true });
}

/** Who shall have the focus back: an item of a menu is gone by then, but the menu's button is not. */
export function opener(): HTMLElement | null {
  const active = document.activeElement;
  const button = active?.closest('[role="menu"]')?.getAttribute("aria-labelledby");
  const found = button ? document.getElementById(button) : active;
  return found instanceof HTMLElement ? found : null;
}

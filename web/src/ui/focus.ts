/** Moves the focus to the page's content, for when the focused element is gone. */
export function focusMain(): void {
  document.getElementById("main")?.focus({ preventScroll: true });
}

/** The element to return the focus to: for a menu item, which closes with its menu, the menu's button. */
export function opener(): HTMLElement | null {
  const active = document.activeElement;
  const button = active?.closest('[role="menu"]')?.getAttribute("aria-labelledby");
  const found = button ? document.getElementById(button) : active;
  return found instanceof HTMLElement ? found : null;
}

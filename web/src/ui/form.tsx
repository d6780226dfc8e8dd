import { type ReactNode, useState } from "react";

/** Runs what a form saves, once at a time: whether it runs, and why it failed. It stays busy after a success. */
export function useSaving() {
  const [saving, setSaving] = useState(false);
  const [failure, setFailure] = useState<unknown>(null);
  async function run(work: () => Promise<void>) {
    if (saving) return;
    setSaving(true);
    setFailure(null);
    try {
      await work();
    } catch (error) {
      setFailure(error);
      setSaving(false);
    }
  }
  return { saving, failure, run };
}

/** A form that Ctrl+Enter submits from every field. */
export function Form({ submit, children }: { submit: () => void; children: ReactNode }) {
  return (
    <form
      className="stack"
      onSubmit={(event) => {
        event.preventDefault();
        submit();
      }}
      onKeyDown={(event) => {
        if (event.key === "Enter" && (event.ctrlKey || event.metaKey) && !event.nativeEvent.isComposing)
          submit();
      }}
    >
      {children}
    </form>
  );
}

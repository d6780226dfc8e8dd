import { type ReactNode, Suspense } from "react";
import { Modal } from "./dialog";
import { Crash, ErrorBoundary } from "./error-boundary";

/** A dialog that is loaded when it is opened; a loading error leaves the page behind it intact. */
export function LazyDialog({
  label,
  onClose,
  children,
}: {
  label: string;
  onClose: () => void;
  children: ReactNode;
}) {
  const failed = (
    <Modal label={label} onClose={onClose}>
      <Crash />
    </Modal>
  );
  return (
    <ErrorBoundary fallback={failed}>
      <Suspense fallback={null}>{children}</Suspense>
    </ErrorBoundary>
  );
}

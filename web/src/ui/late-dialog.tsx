import { type ReactNode, Suspense } from "react";
import { Boundary, Crash } from "./boundary";
import { Modal } from "./dialog";

/** For a dialog that is loaded when it is opened: if it does not come, the page behind it stays. */
export function LateDialog({
  label,
  onClose,
  children,
}: {
  label: string;
  onClose: () => void;
  children: ReactNode;
}) {
  const lost = (
    <Modal label={label} onClose={onClose}>
      <Crash />
    </Modal>
  );
  return (
    <Boundary fallback={lost}>
      <Suspense fallback={null}>{children}</Suspense>
    </Boundary>
  );
}

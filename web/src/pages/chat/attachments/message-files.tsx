import "./files.css";
import { lazy, type ReactNode, useState } from "react";
import type { Attachment } from "../../../../core/attachment";
import { useText } from "../../../i18n/language";
import { chatText } from "../../../i18n/strings/chat";
import { IconButton } from "../../../ui/button";
import { Icon } from "../../../ui/icon";
import { LazyDialog } from "../../../ui/lazy-dialog";
import { useFileUrl } from "./file-source";

const Preview = lazy(() => import("./file-preview"));

/** The files of a question: thumbnails and chips that open a preview. With `onRemove` they can be taken off. */
export function MessageFiles({
  files,
  onRemove,
}: {
  files: readonly Attachment[];
  onRemove?: (file: Attachment) => void;
}) {
  const t = useText(chatText);
  if (!files.length) return null;
  return (
    <ul className="message-files" aria-label={t.files}>
      {files.map((file) => (
        <li key={file.attachment_id}>
          <FileChip file={file}>
            {onRemove && (
              <IconButton small icon="close" label={t.removeFile(file.name)} onClick={() => onRemove(file)} />
            )}
          </FileChip>
        </li>
      ))}
    </ul>
  );
}

export function FileChip({ file, children }: { file: Attachment; children?: ReactNode }) {
  const t = useText(chatText);
  const fileUrl = useFileUrl();
  const [open, setOpen] = useState(false);
  const image = file.kind === "image";
  // The dialog is beside the chip, whose styles are not for it.
  return (
    <>
      <span className={`file ${image ? "image" : ""}`}>
        <button
          type="button"
          className="file-open"
          aria-label={t.openFile(file.name)}
          title={file.name}
          onClick={() => setOpen(true)}
        >
          {image ? (
            <img
              src={fileUrl(file)}
              alt=""
              width={file.width ?? undefined}
              height={file.height ?? undefined}
            />
          ) : (
            <>
              <Icon name="file" size={15} />
              <span className="file-name">{file.name}</span>
            </>
          )}
        </button>
        {!image && <span className="file-size">{t.fileSize(file.size)}</span>}
        {children}
      </span>
      {open && (
        <LazyDialog label={file.name} onClose={() => setOpen(false)}>
          <Preview file={file} onClose={() => setOpen(false)} />
        </LazyDialog>
      )}
    </>
  );
}

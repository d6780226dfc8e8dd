import { useQuery } from "@tanstack/react-query";
import type { Attachment } from "../../../../core/attachment";
import { send } from "../../../api";
import { useText } from "../../../i18n/language";
import { chatText } from "../../../i18n/strings/chat";
import { LinkButton } from "../../../ui/button";
import { Dialog, DialogFoot } from "../../../ui/dialog";
import { ErrorNotice, Skeletons } from "../../../ui/feedback";
import { useFilePath, useFileUrl } from "./file-source";

/** An image as large as the window allows, or the text of a document as models read it. */
export default function FilePreview({ file, onClose }: { file: Attachment; onClose: () => void }) {
  const t = useText(chatText);
  const fileUrl = useFileUrl();
  return (
    <Dialog wide title={file.name} onClose={onClose}>
      {file.kind === "image" ? (
        <img className="preview-image" src={fileUrl(file)} alt={file.name} />
      ) : (
        <DocumentText file={file} />
      )}
      <DialogFoot>
        <LinkButton href={fileUrl(file)} download={file.name}>
          {t.download(t.fileSize(file.size))}
        </LinkButton>
      </DialogFoot>
    </Dialog>
  );
}

function DocumentText({ file }: { file: Attachment }) {
  const t = useText(chatText);
  const path = useFilePath()(file, "/text");
  const { data, error, refetch } = useQuery({
    queryKey: ["attachment-text", path],
    queryFn: async ({ signal }) => (await send("GET", path, { signal })).text(),
    staleTime: Number.POSITIVE_INFINITY,
  });
  if (error) return <ErrorNotice error={error} retry={() => void refetch()} />;
  if (data === undefined) return <Skeletons lines={6} />;
  return (
    <>
      <p className="muted">{t.textOfFile(file.characters ?? data.length)}</p>
      <pre className="preview-text" tabIndex={0}>
        {data}
      </pre>
    </>
  );
}

import type { Attachment } from "../../../core/attachment";
import { UploadList } from "../../../core/upload-list";
import { apiUrl, send } from "../../api";
import { browserStorage } from "../../drafts";

/** The files waiting to be sent in each conversation. */
export const uploads = new UploadList(upload, browserStorage());

export function attachmentUrl(attachment: Attachment, part = ""): string {
  return apiUrl(`/api/attachments/${encodeURIComponent(attachment.attachment_id)}${part}`);
}

async function upload(file: File, signal: AbortSignal): Promise<Attachment> {
  const form = new FormData();
  form.append("file", file.type.startsWith("image/") ? await shrunk(file) : file);
  const response = await send("POST", "/api/attachments", { body: form, signal });
  return (await response.json()) as Attachment;
}

/** The code is loaded with the first image. */
async function shrunk(file: File): Promise<File> {
  return (await import("./shrink-image")).shrinkImage(file);
}

import type { Attachment } from "../../../../core/attachment";
import { type ServerResource, UploadList } from "../../../../core/upload-list";
import { api, send } from "../../../api";
import { browserStorage } from "../../../drafts";

/** The files waiting to be sent in each conversation. */
export const uploads = new UploadList(upload, browserStorage());

async function upload(file: File | ServerResource, signal: AbortSignal): Promise<Attachment> {
  if (!(file instanceof File)) return attachResource(file, signal);
  const form = new FormData();
  form.append("file", file.type.startsWith("image/") ? await shrunk(file) : file);
  const response = await send("POST", "/api/attachments", { body: form, signal });
  return (await response.json()) as Attachment;
}

function attachResource({ server, uri }: ServerResource, signal: AbortSignal): Promise<Attachment> {
  return api.post(`/api/mcp/servers/${encodeURIComponent(server)}/resource`, { uri }, { signal });
}

/** The code is loaded with the first image. */
async function shrunk(file: File): Promise<File> {
  return (await import("./shrink-image")).shrinkImage(file);
}

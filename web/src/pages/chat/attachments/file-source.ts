import { createContext, useContext } from "react";
import type { Attachment } from "../../../../core/attachment";
import { apiUrl } from "../../../api";

/** The path under which files are read: the user's own, those of a project or of a shared conversation. */
export const FileSource = createContext("/api/attachments");

export function useFilePath(): (file: Attachment, part?: string) => string {
  const source = useContext(FileSource);
  return (file, part = "") => `${source}/${encodeURIComponent(file.attachment_id)}${part}`;
}

export function useFileUrl(): (file: Attachment) => string {
  const path = useFilePath();
  return (file) => apiUrl(path(file));
}

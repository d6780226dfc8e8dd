/** A file of a question, as the server describes it. */
export interface Attachment {
  attachment_id: string;
  name: string;
  kind: "image" | "document";
  media_type: string;
  size: number;
  width: number | null;
  height: number | null;
  characters: number | null;
}

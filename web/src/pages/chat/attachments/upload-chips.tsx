import { useQuery } from "@tanstack/react-query";
import { messageIn } from "../../../../core/server-message";
import type { Upload } from "../../../../core/upload-list";
import { type Agent, type Agents, agentsQuery } from "../../../agents/agents";
import { findModel, useModels } from "../../../agents/models";
import { ApiError } from "../../../api";
import { useText } from "../../../i18n/language";
import { chatText } from "../../../i18n/strings/chat";
import { ErrorText, useTranslate } from "../../../i18n/translate";
import { Button, IconButton } from "../../../ui/button";
import { Notice } from "../../../ui/feedback";
import { Icon } from "../../../ui/icon";
import { useModelChoice } from "../models/model-button";
import { FileChip } from "./message-files";
import { uploads } from "./uploads";

/** The files in the composer. One that failed says why, and can be tried again where that may help. */
export function UploadChips({ session, list }: { session: string; list: readonly Upload[] }) {
  const t = useText(chatText);
  if (!list.length) return null;
  return (
    <ul className="files" aria-label={t.files}>
      {list.map((one) => (
        <li key={one.key}>
          <Chip session={session} upload={one} />
        </li>
      ))}
    </ul>
  );
}

function Chip({ session, upload }: { session: string; upload: Upload }) {
  const t = useText(chatText);
  const remove = (
    <IconButton
      small
      icon="close"
      label={t.removeFile(upload.name)}
      onClick={() => uploads.remove(session, upload)}
    />
  );
  if (upload.attachment) return <FileChip file={upload.attachment}>{remove}</FileChip>;
  if (!upload.error)
    return (
      <span className="file uploading" role="status" aria-label={t.uploading(upload.name)}>
        <Icon name="file" size={15} />
        <span className="file-name">{upload.name}</span>
        {remove}
      </span>
    );
  return (
    <span className="file failed" role="alert">
      <Icon name="warn" size={15} />
      <span>
        {isPermanent(upload.error) ? null : `${t.uploadFailed(upload.name)} `}
        <ErrorText error={upload.error} />
      </span>
      {upload.file && !isPermanent(upload.error) && (
        <Button small icon="refresh" onClick={() => uploads.retry(upload)}>
          {t.retryUpload}
        </Button>
      )}
      {remove}
    </span>
  );
}

/** The same file would be refused again. */
export function isPermanent(error: unknown): boolean {
  return error instanceof ApiError && [400, 413].includes(error.status);
}

export function useUnable(list: readonly Upload[], agentId: string | null, session: string) {
  const { data } = useQuery(agentsQuery);
  const own = data?.agents.find((one) => one.agent_id === agentId);
  const sees = useChosenSight(session, own, list.length > 0);
  if (!data || sees === null) return unableWith(data, list, agentId);
  const agents = data.agents.map((one) => (one === own ? { ...one, sees_images: sees } : one));
  return unableWith({ ...data, agents }, list, agentId);
}

/** What the chosen agent cannot do with the files, and the first agent that can. */
export function unableWith(data: Agents | undefined, list: readonly Upload[], agentId: string | null) {
  const agent = data?.agents.find((one) => one.agent_id === agentId);
  const has = (kind: string) => list.some((one) => one.attachment?.kind === kind);
  if (!data || !agent) return null;
  const able = (one: Agent) =>
    (one.sees_images || !has("image")) && (one.reads_documents || !has("document"));
  if (able(agent)) return null;
  return {
    agent,
    images: has("image") && !agent.sees_images,
    other: data.agents.find((one) => one.available && able(one)),
  };
}

/** Whether the model that was chosen for the conversation sees images; null if none was, or it is not known yet. */
function useChosenSight(session: string, agent: Agent | undefined, needed: boolean): boolean | null {
  const { model } = useModelChoice(session);
  const chosen = needed && agent?.model_parameters ? model : null;
  const { data } = useModels({ enabled: chosen !== null });
  return chosen && data ? (findModel(data.endpoints, chosen).model?.sees_images ?? null) : null;
}

export function UnableNotice({
  unable,
  onAgent,
}: {
  unable: NonNullable<ReturnType<typeof useUnable>>;
  onAgent: (id: string) => void;
}) {
  const t = useText(chatText);
  const translate = useTranslate();
  const { agent, images, other } = unable;
  const name = translate(messageIn(agent, "name"));
  return (
    <Notice kind="warn">
      {images ? t.cannotSee(name) : t.cannotRead(name)}{" "}
      {other ? (
        <Button small onClick={() => onAgent(other.agent_id)}>
          {t.switchTo(translate(messageIn(other, "name")))}
        </Button>
      ) : (
        t.nobodyCan
      )}
    </Notice>
  );
}

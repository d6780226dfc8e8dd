import { type ChangeEvent, useRef, useState } from "react";
import { useText } from "../../i18n/language";
import { projectsText } from "../../i18n/strings/projects";
import { ErrorText } from "../../i18n/translate";
import { Button, IconButton } from "../../ui/button";
import { Notice } from "../../ui/feedback";
import { useToast } from "../../ui/toast";
import { FileSource } from "../chat/attachments/file-source";
import { FileChip } from "../chat/attachments/message-files";
import { type ProjectDetails, projectPath, projects } from "./client";

/** The files of a project: opened by every member, added and removed by editors. */
export function Files({ project }: { project: ProjectDetails }) {
  const t = useText(projectsText);
  const toast = useToast();
  const picker = useRef<HTMLInputElement>(null);
  const [busy, setBusy] = useState(false);
  const [errors, setErrors] = useState<{ name: string; error: unknown }[]>([]);
  const id = project.project_id;
  const editable = project.role !== "viewer";
  const add = async (files: File[]) => {
    setBusy(true);
    setErrors([]);
    for (const file of files) {
      await projects
        .addFile(id, file)
        .catch((error: unknown) => setErrors((before) => [...before, { name: file.name, error }]));
    }
    setBusy(false);
  };
  const remove = (file: string, name: string) =>
    projects.removeFile(id, file).then(
      () => toast(t.fileRemoved(name)),
      (error: unknown) => toast(<ErrorText error={error} />),
    );
  return (
    <section className="card stack" aria-labelledby="pj-files">
      <div className="row wrap">
        <h2 id="pj-files" className="grow">
          {t.files}
        </h2>
        {editable && (
          <Button small icon="upload" disabled={busy} onClick={() => picker.current?.click()}>
            {busy ? t.adding : t.addFiles}
          </Button>
        )}
        <input
          ref={picker}
          type="file"
          multiple
          hidden
          onChange={(event: ChangeEvent<HTMLInputElement>) => {
            void add([...(event.target.files ?? [])]);
            event.target.value = "";
          }}
        />
      </div>
      <p className="muted small">{t.filesNote}</p>
      {errors.map(({ name, error }) => (
        <Notice key={name} kind="bad">
          <ErrorText error={error} />
        </Notice>
      ))}
      {!project.files.length && <p className="muted">{t.noFiles}</p>}
      <FileSource value={projectPath(id, "files")}>
        <ul className="pj-files" aria-label={t.files}>
          {project.files.map((file) => (
            <li key={file.attachment_id}>
              <FileChip file={file}>
                {editable && (
                  <IconButton
                    small
                    icon="close"
                    label={t.removeFile(file.name)}
                    onClick={() => void remove(file.attachment_id, file.name)}
                  />
                )}
              </FileChip>
            </li>
          ))}
        </ul>
      </FileSource>
    </section>
  );
}

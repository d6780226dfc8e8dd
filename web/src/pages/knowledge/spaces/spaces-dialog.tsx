/** For admins: spaces, and who may read and write in them. */
import { useState } from "react";
import { useText } from "../../../i18n/language";
import { spacesText } from "../../../i18n/strings/spaces";
import { Button, IconButton } from "../../../ui/button";
import { Dialog, DialogFoot } from "../../../ui/dialog";
import { ErrorNotice } from "../../../ui/feedback";
import { Field, TextInput } from "../../../ui/field";
import { Form } from "../../../ui/form";
import { type Access, type Space, spaces, TEAM, useSpaces } from "./spaces";

function useWork() {
  const [saving, setSaving] = useState(false);
  const [failure, setFailure] = useState<unknown>(null);
  async function run(work: () => Promise<unknown>) {
    setSaving(true);
    setFailure(null);
    try {
      await work();
    } catch (error) {
      setFailure(error);
    } finally {
      setSaving(false);
    }
  }
  return { saving, failure, run };
}

export function SpacesDialog({ onClose }: { onClose: () => void }) {
  const t = useText(spacesText);
  const known = useSpaces();
  const [name, setName] = useState("");
  const { saving, failure, run } = useWork();
  return (
    <Dialog title={t.spaces} wide onClose={onClose}>
      <p className="muted kn-dialog-lead">{t.lead}</p>
      <ul className="kn-spaces">
        {known.map((space) => (
          <OneSpace key={space.name} space={space} />
        ))}
      </ul>
      <Form
        submit={() =>
          void run(async () => {
            await spaces.save(name.trim(), {});
            setName("");
          })
        }
      >
        <Field label={t.name} note={t.nameNote}>
          {(control) => (
            <TextInput
              {...control}
              value={name}
              maxLength={40}
              onChange={(event) => setName(event.target.value)}
            />
          )}
        </Field>
        {failure !== null && <ErrorNotice error={failure} />}
        <DialogFoot>
          <Button kind="primary" type="submit" disabled={saving || !name.trim()}>
            {t.create}
          </Button>
        </DialogFoot>
      </Form>
    </Dialog>
  );
}

function OneSpace({ space }: { space: Space }) {
  const t = useText(spacesText);
  const [user, setUser] = useState("");
  const [removing, setRemoving] = useState(false);
  const { saving, failure, run } = useWork();
  return (
    <li className="kn-space-card">
      <div className="row">
        <strong className="grow">
          {space.title || space.name}{" "}
          {space.title && space.title.toLowerCase() !== space.name && (
            <code className="muted small">{space.name}</code>
          )}{" "}
          <span className="muted small">{t.notes(space.notes)}</span>
        </strong>
        {space.name !== TEAM && (
          <IconButton small icon="trash" label={t.remove(space.name)} onClick={() => setRemoving(true)} />
        )}
      </div>
      {removing && (
        <DialogFoot>
          <strong className="grow" role="alert">
            {t.confirm(space.notes)}
          </strong>
          <Button kind="danger" onClick={() => void run(() => spaces.delete(space.name))}>
            {t.doRemove}
          </Button>
          <Button autoFocus onClick={() => setRemoving(false)}>
            {t.cancel}
          </Button>
        </DialogFoot>
      )}
      <Right
        who={t.everybody}
        space={space}
        value={space.everybody ?? "none"}
        choose={(everybody) => void run(() => spaces.save(space.name, { everybody }))}
      />
      {Object.entries(space.grants ?? {}).map(([name, access]) => (
        <Right
          key={name}
          who={name}
          space={space}
          value={access}
          choose={(chosen) => void run(() => spaces.grant(space.name, name, chosen))}
        />
      ))}
      <div className="row kn-space-user">
        <TextInput
          aria-label={t.user}
          placeholder={t.user}
          value={user}
          onChange={(event) => setUser(event.target.value)}
        />
        <Button
          small
          disabled={saving || !user.trim()}
          onClick={() =>
            void run(async () => {
              await spaces.grant(space.name, user.trim(), "write");
              setUser("");
            })
          }
        >
          {t.addUser}
        </Button>
      </div>
      {failure !== null && <ErrorNotice error={failure} />}
    </li>
  );
}

function Right({
  who,
  space,
  value,
  choose,
}: {
  who: string;
  space: Space;
  value: Access;
  choose: (access: Access) => void;
}) {
  const t = useText(spacesText);
  return (
    <div className="row">
      <span className="grow">{who}</span>
      <select
        className="input kn-space-filter"
        aria-label={t.access(who, space.name)}
        value={value}
        onChange={(event) => choose(event.target.value as Access)}
      >
        <option value="none">{t.none}</option>
        <option value="read">{t.read}</option>
        <option value="write">{t.write}</option>
      </select>
    </div>
  );
}

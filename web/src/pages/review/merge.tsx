import { useState } from "react";
import { mergedText } from "../../../core/diff";
import { useText } from "../../i18n/language";
import { reviewText } from "../../i18n/strings/review";
import { Button } from "../../ui/button";
import { Dialog, DialogFoot } from "../../ui/dialog";
import { Field, TextArea } from "../../ui/field";
import { Form } from "../../ui/form";
import type { Finding } from "./review";

/** The text of both notes, or the model's draft, to edit. */
export function MergeDialog({
  finding: shown,
  draft,
  onClose,
  merge,
}: {
  finding: Finding;
  draft: string | null;
  onClose: () => void;
  merge: (finding: Finding, content: string) => void;
}) {
  const t = useText(reviewText);
  const [finding] = useState(shown); // the text was made of these notes, whatever is loaded meanwhile
  const [older, newer] = finding.notes;
  const [content, setContent] = useState(
    () => draft ?? mergedText(newer?.content ?? "", older?.content ?? ""),
  );
  return (
    <Dialog title={t.mergeTitle} wide onClose={onClose}>
      <Form submit={() => content.trim() && merge(finding, content)}>
        <p className="muted">{t.mergeLead}</p>
        <Field label={t.mergedText}>
          {(control) => (
            <TextArea
              {...control}
              data-autofocus
              className="kn-content"
              rows={10}
              required
              value={content}
              onChange={(event) => setContent(event.target.value)}
            />
          )}
        </Field>
        <DialogFoot onCancel={onClose}>
          <Button kind="primary" type="submit" disabled={!content.trim()}>
            {t.doMerge}
          </Button>
        </DialogFoot>
      </Form>
    </Dialog>
  );
}

import "./sign-in.css";
import { useEffect, useState } from "react";
import { useText } from "../i18n/language";
import { accountText } from "../i18n/strings/account";
import { Button } from "../ui/button";
import { ErrorNotice } from "../ui/feedback";
import { Field, TextInput } from "../ui/field";
import { signIn } from "./account";
import { LanguageMenu, ThemeMenu } from "./menus";

/** Replaces the whole page until the user has signed in. */
export function SignIn() {
  const t = useText(accountText);
  const [token, setToken] = useState("");
  const [busy, setBusy] = useState(false);
  const [failure, setFailure] = useState<unknown>(null);
  useEffect(() => {
    document.title = `${t.title} · Chie`;
  }, [t.title]);

  async function submit() {
    if (busy || !token.trim()) return;
    setBusy(true);
    setFailure(null);
    try {
      await signIn(token.trim());
    } catch (error) {
      setFailure(error);
      setBusy(false);
    }
  }

  return (
    <main className="sign-in">
      <form
        className="sign-in-card stack"
        onSubmit={(event) => {
          event.preventDefault();
          void submit();
        }}
      >
        <div className="brand">
          <img src="./icon.svg" alt="" />
          Chie <span lang="ja">知恵</span>
        </div>
        <h1>{t.title}</h1>
        <p className="muted">{t.lead}</p>
        <Field label={t.token} note={t.tokenNote}>
          {(control) => (
            <TextInput
              {...control}
              type="password"
              name="token"
              autoComplete="current-password"
              spellCheck={false}
              required
              autoFocus
              value={token}
              onChange={(event) => setToken(event.target.value)}
            />
          )}
        </Field>
        {failure !== null && <ErrorNotice error={failure} />}
        <div className="sign-in-foot">
          <LanguageMenu />
          <ThemeMenu />
          <span className="grow" />
          <Button kind="primary" type="submit" disabled={busy || !token.trim()}>
            {busy ? t.signingIn : t.signIn}
          </Button>
        </div>
      </form>
    </main>
  );
}

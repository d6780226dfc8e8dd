import { Suspense, useEffect, useSyncExternalStore } from "react";
import { SignIn } from "./account/sign-in";
import { signIn } from "./api";
import { useText } from "./i18n/language";
import { shellText } from "./i18n/strings/shell";
import ChatPage from "./pages/chat";
import { PAGES, SESSION_ACTIONS } from "./pages/registry";
import { hrefTo, useRoute } from "./route";
import { SessionActions } from "./sessions/session-actions";
import { Shell } from "./shell/shell";
import { LinkButton } from "./ui/button";
import { ErrorBoundary } from "./ui/error-boundary";
import { Empty, Page, Skeletons } from "./ui/feedback";

export function App() {
  const required = useSyncExternalStore(signIn.subscribe, () => signIn.required);
  return required ? <SignIn /> : <SignedIn />;
}

function SignedIn() {
  const { page, rest, query } = useRoute();
  const t = useText(shellText);
  const entry = PAGES.find((candidate) => candidate.path === page);
  const title = entry ? t[entry.label] : null;
  useEffect(() => {
    if (title) document.title = `${title} · Chie`;
  }, [title]);
  return (
    <SessionActions value={SESSION_ACTIONS}>
      <Shell pages={PAGES}>
        <ErrorBoundary key={page} resetKey={`${rest.join("/")}?${query}`}>
          {page === "chat" ? (
            <ChatPage />
          ) : entry ? (
            <Suspense
              fallback={
                <Page title={title ?? ""}>
                  <Skeletons lines={5} />
                </Page>
              }
            >
              <entry.component />
            </Suspense>
          ) : (
            <Empty
              icon="info"
              title={t.notFound}
              action={<LinkButton href={hrefTo("chat")}>{t.home}</LinkButton>}
            />
          )}
        </ErrorBoundary>
      </Shell>
    </SessionActions>
  );
}

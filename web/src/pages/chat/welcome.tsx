import { type ComponentType, type LazyExoticComponent, lazy, Suspense } from "react";
import { chatText } from "../../i18n/chat";
import { useText } from "../../i18n/language";
import { Button } from "../../ui/button";

/** Cards under the greeting, such as how to connect a model; other pages add theirs, and a card may show nothing. */
export const WELCOME_CARDS: LazyExoticComponent<ComponentType>[] = [lazy(() => import("../setup/card"))];

export function Welcome({ onIdea }: { onIdea: (text: string) => void }) {
  const t = useText(chatText);
  return (
    <div className="welcome">
      <h1>{t.welcome}</h1>
      <p className="lead">{t.welcomeLead}</p>
      <ul className="ideas">
        {[t.ideaNotes, t.ideaSave, t.ideaTools].map((idea) => (
          <li key={idea}>
            <Button small className="idea" onClick={() => onIdea(idea)}>
              {idea}
            </Button>
          </li>
        ))}
      </ul>
      {WELCOME_CARDS.map((Card, place) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: the list never changes while the page runs
        <Suspense key={place} fallback={null}>
          <Card />
        </Suspense>
      ))}
    </div>
  );
}

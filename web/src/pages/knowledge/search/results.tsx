import { messageIn } from "../../../../core/server-message";
import { ago } from "../../../i18n/dates";
import { useLanguage, useText } from "../../../i18n/language";
import { knowledgeText } from "../../../i18n/strings/knowledge";
import { Translated } from "../../../i18n/translate";
import { Button, LinkButton } from "../../../ui/button";
import { ErrorNotice, Notice, Skeletons } from "../../../ui/feedback";
import { Highlighted } from "../../../ui/highlighted";
import { Icon } from "../../../ui/icon";
import { SupersededBadge } from "../history/supersession";
import { AnchorBadge } from "../note/anchor";
import { TrustBadge, WaitingBadge } from "../note/confirmation";
import { FlagBadge } from "../note/injection-warning";
import { MatchedQuestion } from "../note/questions";
import { type HighlightedHit, languageOf, SEARCH_LIMIT, useBrowse, useSearch } from "../notes";
import { SpaceBadge } from "../spaces/space-field";
import { noteHref, type View, viewHref } from "../view-state";
import { excerpt, plainText } from "./excerpt";
import { asOf, withoutAsOf } from "./query-filters";

export function SearchResults({ view, current }: { view: View; current: string | null }) {
  const t = useText(knowledgeText);
  const { data, error, isFetching, refetch } = useSearch(view.q, view.tag, view.space);
  const count = (found: number) => (found < SEARCH_LIMIT ? t.found(found) : t.best(found));
  if (error) return <ErrorNotice error={error} retry={() => refetch()} />;
  if (!data) return <Skeletons lines={6} height="3.5rem" label={t.searching} />;
  const unsure = data.hits.filter(({ hit }) => !hit.confident);
  return (
    <section aria-label={t.search} aria-busy={isFetching}>
      <p className="kn-count" role="status">
        {isFetching ? t.searching : count(data.hits.length)}
      </p>
      <AsOf view={view} />
      {data.notice && (
        <Notice kind="warn">
          <Translated message={messageIn(data, "notice")} />
        </Notice>
      )}
      {data.hits.length === 0 && !isFetching ? (
        <div className="kn-none">
          <h2>{t.nothing}</h2>
          <p className="muted">{t.nothingHint}</p>
        </div>
      ) : (
        <>
          <Hits hits={data.hits.filter(({ hit }) => hit.confident)} view={view} current={current} />
          {unsure.length > 0 && (
            <section aria-label={t.perhaps} className="kn-perhaps">
              <h3 title={t.perhapsHint}>{t.perhaps}</h3>
              <Hits hits={unsure} view={view} current={current} />
            </section>
          )}
        </>
      )}
    </section>
  );
}

/** Says that the results are what was known on a date. */
function AsOf({ view }: { view: View }) {
  const t = useText(knowledgeText);
  const date = asOf(view.q);
  if (!date) return null;
  return (
    <Notice
      kind="warn"
      action={
        <LinkButton small href={viewHref({ ...view, q: withoutAsOf(view.q) })}>
          {t.asOfEnd}
        </LinkButton>
      }
    >
      <strong>{t.asOf(date)}</strong> {t.asOfHint}
    </Notice>
  );
}

function Hits({ hits, view, current }: { hits: HighlightedHit[]; view: View; current: string | null }) {
  return (
    <ul className="kn-list">
      {hits.map((found) => (
        <Hit key={found.hit.id} found={found} view={view} current={found.hit.id === current} />
      ))}
    </ul>
  );
}

function Hit({ found, view, current }: { found: HighlightedHit; view: View; current: boolean }) {
  const t = useText(knowledgeText);
  const language = useLanguage();
  const { hit, highlights } = found;
  const percent = Math.round(hit.score * 100);
  const plain = plainText(hit.content, highlights.content);
  const shown = excerpt(plain.text, plain.ranges);
  return (
    <li>
      <a
        className="kn-item"
        data-note={hit.id}
        href={noteHref(hit.id, view)}
        aria-current={current ? "true" : undefined}
      >
        <span className="kn-item-head">
          <strong lang={languageOf(hit.title)}>
            <Highlighted text={hit.title} ranges={highlights.title} />
          </strong>
          <FlagBadge flags={hit.flags} />
          <TrustBadge hit={hit} />
          <SupersededBadge hit={hit} />
          <AnchorBadge hit={hit} />
          <span className="kn-score" title={t.score(percent)}>
            <span className="hidden-text">{t.score(percent)}</span>
            <span aria-hidden="true">{percent}</span>
            <span className="kn-bar" aria-hidden="true">
              <span style={{ width: `${percent}%` }} />
            </span>
          </span>
        </span>
        <span className="kn-passage" lang={languageOf(hit.content)}>
          <Highlighted text={shown.text} ranges={shown.ranges} />
        </span>
        <MatchedQuestion question={hit.question} />
        <Foot
          tags={hit.tags}
          when={ago(hit.updated_at, language)}
          isPrivate={hit.private}
          space={hit.space}
        />
      </a>
    </li>
  );
}

export function BrowseResults({ view, current }: { view: View; current: string | null }) {
  const t = useText(knowledgeText);
  const language = useLanguage();
  const { data, error, refetch, hasNextPage, fetchNextPage, isFetchingNextPage } = useBrowse(
    view.tag,
    view.space,
  );
  if (error) return <ErrorNotice error={error} retry={() => refetch()} />;
  if (!data) return <Skeletons lines={8} height="2.75rem" />;
  return (
    <section aria-label={view.tag ? `#${view.tag}` : t.all}>
      <ul className="kn-list">
        {data.map((note) => (
          <li key={note.id}>
            <a
              className="kn-item"
              data-note={note.id}
              href={noteHref(note.id, view)}
              aria-current={note.id === current ? "true" : undefined}
            >
              <span className="kn-item-head">
                <strong lang={languageOf(note.title)}>{note.title}</strong>
                <WaitingBadge proposal={note.proposal} />
              </span>
              <Foot
                tags={note.tags}
                when={ago(note.updated_at, language)}
                isPrivate={note.private}
                space={note.space}
              />
            </a>
          </li>
        ))}
      </ul>
      {hasNextPage && (
        <Button className="kn-more" disabled={isFetchingNextPage} onClick={() => fetchNextPage()}>
          {isFetchingNextPage ? t.loadingMore : t.more}
        </Button>
      )}
    </section>
  );
}

function Foot({
  tags,
  when,
  isPrivate,
  space,
}: {
  tags: string[];
  when: string;
  isPrivate: boolean;
  space: string;
}) {
  const t = useText(knowledgeText);
  return (
    <span className="kn-item-foot">
      <SpaceBadge space={space} />
      {isPrivate && (
        <span className="kn-lock" title={t.private}>
          <Icon name="lock" size={14} />
          <span className="hidden-text">{t.private}</span>
        </span>
      )}
      {tags.slice(0, 4).map((tag) => (
        <span key={tag} className="kn-hash" lang={languageOf(tag)}>
          #{tag}
        </span>
      ))}
      {tags.length > 4 && <span className="kn-hash">+{tags.length - 4}</span>}
      <span className="kn-when">{when}</span>
    </span>
  );
}

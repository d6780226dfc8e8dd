import "./knowledge.css";
import "./note/note.css";
import "./map/map.css";
import "./inbox/inbox.css";
import "./history/history.css";
import "./spaces/spaces.css";
import { useLayoutEffect, useRef, useState } from "react";
import { useMe } from "../../account/account";
import { apiUrl } from "../../api";
import { useText } from "../../i18n/language";
import { historyText } from "../../i18n/strings/history";
import { inboxText } from "../../i18n/strings/inbox";
import { knowledgeText } from "../../i18n/strings/knowledge";
import { spacesText } from "../../i18n/strings/spaces";
import { ErrorText } from "../../i18n/translate";
import { go, hrefTo, useRoute } from "../../route";
import { Button, IconButton, LinkButton } from "../../ui/button";
import { Empty } from "../../ui/feedback";
import { Icon } from "../../ui/icon";
import { Menu, MenuItem } from "../../ui/menu";
import { useToast } from "../../ui/toast";
import { useFindingCount } from "../review/review";
import { Editor } from "./editing/editor";
import { EXPORT, ImportDialog } from "./editing/import-dialog";
import { TrashDialog } from "./history/trash-dialog";
import { useInboxCount } from "./inbox/inbox";
import { InboxView } from "./inbox/inbox-view";
import { NoteMap } from "./map/note-map";
import { Detail } from "./note/note-view";
import { RecordingChoice } from "./note/usefulness";
import { languageOf, notes, useTags } from "./notes";
import { BrowseResults, SearchResults } from "./search/results";
import { Search } from "./search/search-field";
import { SpaceFilter } from "./spaces/space-field";
import { SpacesDialog } from "./spaces/spaces-dialog";
import { noteHref, type View, viewHref, viewOf } from "./view-state";

const SHOWN_TAGS = 14;

export default function KnowledgePage() {
  const t = useText(knowledgeText);
  const route = useRoute();
  const view = viewOf(route);
  const current = route.rest[0] ?? null;
  const { data } = useTags();
  const [opened, setOpened] = useState<Opened | null>(null);
  const { page, list, savePosition } = useListPosition(current);
  return (
    <div className={`page kn-page ${current ? "kn-reading" : ""}`} ref={page} onScroll={savePosition}>
      <div className="page-body">
        <Head view={view} current={current} open={setOpened} />
        {data && data.total === 0 && !view.q && !view.inbox ? (
          <FirstNote open={setOpened} />
        ) : view.inbox ? (
          <InboxView view={view} current={current} />
        ) : (
          <>
            <Tags view={view} />
            <div className={view.map ? "kn-panes kn-panes-map" : "kn-panes"}>
              <div className="kn-results" ref={list}>
                {view.map ? (
                  <NoteMap view={view} current={current} />
                ) : view.q ? (
                  <SearchResults view={view} current={current} />
                ) : (
                  <BrowseResults view={view} current={current} />
                )}
              </div>
              {current ? (
                <Detail key={current} id={current} view={view} />
              ) : (
                !view.map && (
                  <div className="kn-choose muted">
                    <Icon name="book" size={28} />
                    <p>{t.choose}</p>
                  </div>
                )
              )}
            </div>
          </>
        )}
      </div>
      {opened === "editor" && (
        <Editor
          space={view.space ?? undefined}
          onClose={() => setOpened(null)}
          onSaved={(saved) => go(noteHref(saved.id, { ...view, q: "", inbox: false }))}
        />
      )}
      {opened === "spaces" && <SpacesDialog onClose={() => setOpened(null)} />}
      {opened === "import" && <ImportDialog onClose={() => setOpened(null)} />}
      {opened === "trash" && <TrashDialog onClose={() => setOpened(null)} />}
    </div>
  );
}

/** On narrow screens a note replaces the list: opening it scrolls to the top, going back restores position and focus. */
function useListPosition(current: string | null) {
  const page = useRef<HTMLDivElement>(null);
  const list = useRef<HTMLDivElement>(null);
  const top = useRef(0);
  const covered = useRef<string | null>(null);
  useLayoutEffect(() => {
    const left = covered.current;
    covered.current = list.current?.checkVisibility() ? null : current;
    if (covered.current) page.current?.scrollTo(0, 0);
    else if (left) {
      page.current?.scrollTo(0, top.current);
      const row = list.current?.querySelector<HTMLElement>(`[data-note="${CSS.escape(left)}"]`);
      row?.focus({ preventScroll: true });
    }
  }, [current]);
  const savePosition = () => {
    if (page.current && list.current?.checkVisibility()) top.current = page.current.scrollTop;
  };
  return { page, list, savePosition };
}

type Opened = "editor" | "import" | "trash" | "spaces";
type Open = (what: Opened) => void;

function Head({ view, current, open }: { view: View; current: string | null; open: Open }) {
  const t = useText(knowledgeText);
  const memory = useText(inboxText);
  const versions = useText(historyText);
  const spaceTexts = useText(spacesText);
  const me = useMe();
  const waiting = useInboxCount();
  const findings = useFindingCount();
  const here = (next: View) => (current && !view.inbox ? noteHref(current, next) : viewHref(next));
  const isList = !view.map && !view.inbox;
  return (
    <>
      <div className="page-head kn-head">
        <h1>{t.title}</h1>
        <fieldset className="kn-switch" aria-label={t.view}>
          <LinkButton
            small
            href={here({ ...view, map: false, links: false, inbox: false })}
            aria-current={isList ? "true" : undefined}
          >
            {t.list}
          </LinkButton>
          <LinkButton
            small
            icon="map"
            href={here({ ...view, q: "", map: true, inbox: false })}
            aria-current={view.map ? "true" : undefined}
          >
            {t.map}
          </LinkButton>
          <LinkButton
            small
            href={viewHref({ q: "", tag: null, space: null, map: false, links: false, inbox: true })}
            aria-current={view.inbox ? "true" : undefined}
          >
            {memory.inbox}
            {waiting > 0 && (
              <span className="kn-badge" title={memory.waiting(waiting)}>
                {waiting}
              </span>
            )}
          </LinkButton>
        </fieldset>
        <LinkButton small href={hrefTo("review")}>
          {t.review}
          {findings > 0 && <span className="kn-badge">{findings}</span>}
        </LinkButton>
        <Menu align="end" trigger={<IconButton kind="plain" icon="more" label={t.exchange} />}>
          <MenuItem icon="upload" onSelect={() => open("import")}>
            {t.import}
          </MenuItem>
          <MenuItem icon="download" onSelect={() => location.assign(apiUrl(EXPORT))}>
            {t.export}
          </MenuItem>
          <MenuItem icon="trash" onSelect={() => open("trash")}>
            {versions.trash}
          </MenuItem>
          {me?.admin && (
            <MenuItem icon="lock" onSelect={() => open("spaces")}>
              {spaceTexts.manage}
            </MenuItem>
          )}
          <RecordingChoice />
        </Menu>
        <Button kind="primary" icon="plus" onClick={() => open("editor")}>
          {t.newNote}
        </Button>
      </div>
      <Search view={view} />
    </>
  );
}

function Tags({ view }: { view: View }) {
  const t = useText(knowledgeText);
  const { data } = useTags();
  const [all, setAll] = useState(false);
  if (!data || data.total === 0 || view.map) return null;
  const shown = all ? data.tags : data.tags.slice(0, SHOWN_TAGS);
  return (
    <nav className="kn-tags" aria-label={t.tags}>
      <SpaceFilter value={view.space} onChange={(space) => go(viewHref({ ...view, space }))} />
      <a
        className="kn-tag"
        href={viewHref({ ...view, tag: null })}
        aria-current={view.tag === null ? "true" : undefined}
      >
        {t.all} <span className="kn-number">{data.total}</span>
      </a>
      {shown.map(({ tag, count }) => (
        <a
          key={tag}
          className="kn-tag"
          lang={languageOf(tag)}
          href={viewHref({ ...view, tag: view.tag === tag ? null : tag })}
          aria-current={view.tag === tag ? "true" : undefined}
        >
          #{tag} <span className="kn-number">{count}</span>
        </a>
      ))}
      {data.tags.length > SHOWN_TAGS && (
        <Button small kind="quiet" aria-expanded={all} onClick={() => setAll(!all)}>
          {all ? t.fewerTags : t.allTags}
        </Button>
      )}
    </nav>
  );
}

function FirstNote({ open }: { open: Open }) {
  const t = useText(knowledgeText);
  const toast = useToast();
  const [busy, setBusy] = useState(false);
  async function addSamples() {
    setBusy(true);
    try {
      await notes.addSamples();
      toast(t.samplesAdded);
    } catch (error) {
      toast(<ErrorText error={error} />);
      setBusy(false);
    }
  }
  return (
    <Empty
      icon="book"
      title={t.empty}
      action={
        <div className="row wrap kn-first">
          <Button kind="primary" icon="plus" onClick={() => open("editor")}>
            {t.newNote}
          </Button>
          <Button icon="upload" onClick={() => open("import")}>
            {t.import}
          </Button>
          <Button icon="spark" disabled={busy} onClick={addSamples}>
            {t.samples}
          </Button>
        </div>
      }
    >
      {t.emptyHint}
    </Empty>
  );
}

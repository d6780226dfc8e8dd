/** Line icons on a 24 grid, drawn for this page. They say nothing to a screen reader: the words beside them do. */
const PATHS = {
  chat: "M4 5.5h16v10H10l-4.5 4v-4H4z",
  book: "M5 4.5h10.5A2.5 2.5 0 0 1 18 7v12.5H7.5A2.5 2.5 0 0 1 5 17zM5 17a2.5 2.5 0 0 1 2.5-2.5H18M9 8.5h5",
  flow: "M4 5h5v5H4zM15 14h5v5h-5zM9 7.5h3.5a2 2 0 0 1 2 2V14M6.5 10v4.5a2 2 0 0 0 2 2H15",
  plug: "M9 3.5v5M15 3.5v5M6.5 8.5h11v3a5.5 5.5 0 0 1-11 0zM12 17v3.5",
  plus: "M12 5v14M5 12h14",
  search: "M10.5 17a6.5 6.5 0 1 0 0-13 6.5 6.5 0 0 0 0 13ZM15.5 15.5 20 20",
  more: "M5.5 12a.6.6 0 1 0 1.2 0 .6.6 0 1 0-1.2 0M11.4 12a.6.6 0 1 0 1.2 0 .6.6 0 1 0-1.2 0M17.3 12a.6.6 0 1 0 1.2 0 .6.6 0 1 0-1.2 0",
  close: "M6 6l12 12M18 6 6 18",
  check: "M5 12.5l4.5 4.5L19 7.5",
  copy: "M9 9h10v10.5H9zM5 15V4.5h10",
  edit: "M4.5 19.5v-4L15 5l4 4L8.5 19.5zM12.5 7.5l4 4",
  trash: "M5 7h14M10 7V4.5h4V7M7 7l.8 12.5h8.4L17 7M10.5 10.5v5.5M13.5 10.5v5.5",
  refresh: "M19 12a7 7 0 1 1-2.2-5.1M19 4v4h-4",
  stop: "M7 7h10v10H7z",
  send: "M12 19V5M6 11l6-6 6 6",
  down: "M6 9.5l6 6 6-6",
  up: "M6 14.5l6-6 6 6",
  left: "M14.5 6l-6 6 6 6",
  right: "M9.5 6l6 6-6 6",
  menu: "M4 7h16M4 12h16M4 17h16",
  globe:
    "M12 20.5a8.5 8.5 0 1 0 0-17 8.5 8.5 0 0 0 0 17ZM3.5 12h17M12 3.5c2.4 2.4 3.5 5.2 3.5 8.5s-1.1 6.1-3.5 8.5c-2.4-2.4-3.5-5.2-3.5-8.5S9.6 5.9 12 3.5Z",
  sun: "M12 16.5a4.5 4.5 0 1 0 0-9 4.5 4.5 0 0 0 0 9ZM12 2.5v2M12 19.5v2M2.5 12h2M19.5 12h2M5.3 5.3l1.4 1.4M17.3 17.3l1.4 1.4M18.7 5.3l-1.4 1.4M6.7 17.3l-1.4 1.4",
  moon: "M19.5 14.5A8 8 0 0 1 9.5 4.5a8 8 0 1 0 10 10Z",
  contrast:
    "M12 20.5a8.5 8.5 0 1 0 0-17 8.5 8.5 0 0 0 0 17ZM12 3.5v17M12 3.5a8.5 8.5 0 0 1 0 17M15 5v14M18 7.5v9",
  tool: "M14.5 6.5a4 4 0 0 1 5-1.2l-2.6 2.6.9 1.8 1.8.9 1.2-1.2a4 4 0 0 1-5.4 4.4L9 20.2a2 2 0 0 1-3-3l6.4-6.4a4 4 0 0 1 2.1-4.3Z",
  warn: "M12 4 2.8 19.5h18.4zM12 10v4.5M12 17h.01",
  info: "M12 20.5a8.5 8.5 0 1 0 0-17 8.5 8.5 0 0 0 0 17ZM12 11v5M12 8h.01",
  shield: "M12 3.5l7 2.5v5.5c0 4.3-2.8 7.4-7 9-4.2-1.6-7-4.7-7-9V6z",
  save: "M6.5 4h11v16.5L12 16l-5.5 4.5z",
  upload: "M12 15V4.5M7.5 9 12 4.5 16.5 9M4.5 15v4.5h15V15",
  download: "M12 4.5V15M7.5 10.5 12 15l4.5-4.5M4.5 15v4.5h15V15",
  link: "M10 14a4 4 0 0 0 5.7 0l3-3A4 4 0 0 0 13 5.3l-1 1M14 10a4 4 0 0 0-5.7 0l-3 3A4 4 0 0 0 11 18.7l1-1",
  file: "M6 3.5h8l4 4v13H6zM14 3.5v4h4",
  map: "M9 5 4 7v12.5l5-2 6 2 5-2V5l-5 2zM9 5v12.5M15 7v12.5",
  spark: "M12 3.5l1.9 5.6 5.6 1.9-5.6 1.9L12 18.5l-1.9-5.6L4.5 11l5.6-1.9z",
  key: "M14.5 13.5a4.5 4.5 0 1 0-4-2.4L4 17.5V20h3.5v-2.5H10V15l1.4-1.4a4.5 4.5 0 0 0 3.1-.1ZM15.5 8.5h.01",
  eye: "M2.5 12S6 5.5 12 5.5 21.5 12 21.5 12 18 18.5 12 18.5 2.5 12 2.5 12ZM12 15a3 3 0 1 0 0-6 3 3 0 0 0 0 6Z",
  history: "M4.5 12a7.5 7.5 0 1 0 2.2-5.3L4.5 9M4.5 4.5V9H9M12 8v4.5l3 2",
} as const;

export type IconName = keyof typeof PATHS;

export function Icon({ name, size = 18 }: { name: IconName; size?: number }) {
  return (
    <svg className="icon" width={size} height={size} viewBox="0 0 24 24" aria-hidden="true" focusable="false">
      <path d={PATHS[name]} />
    </svg>
  );
}

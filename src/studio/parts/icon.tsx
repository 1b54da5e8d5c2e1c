/** The icons: strokes of 1.4 on a square of 16, drawn for this house. */

import type { ReactNode } from 'react'

/** Drawings of the icons, by their names. */
const drawings = {
  threads: <path d="M3.5 2v12M8 2v12M12.5 2v12M2 5.5h3M6.5 9h3M11 6.5h3" />,
  inbox: (
    <>
      <path d={`M2 9.5V4.2A1.7 1.7 0 0 1 3.7 2.5h8.6A1.7 1.7 0 0 1 14 4.2
        v7.6a1.7 1.7 0 0 1-1.7 1.7H3.7A1.7 1.7 0 0 1 2 11.8z`} />
      <path d="M2 9.3h3.2l1 1.8h3.6l1-1.8H14" />
    </>
  ),
  assistants: (
    <>
      <path d="M3 4.5h10M3 8h10M3 11.5h10" />
      <circle cx="6" cy="4.5" r="1.5" fill="var(--ground)" />
      <circle cx="10.5" cy="8" r="1.5" fill="var(--ground)" />
      <circle cx="5" cy="11.5" r="1.5" fill="var(--ground)" />
    </>
  ),
  runs: <path d="M2.5 4h6M2.5 8h11M2.5 12h8M11 2.7v2.6l2.2-1.3z" />,
  cluster: (
    <>
      <circle cx="8" cy="3.4" r="1.6" />
      <circle cx="3.4" cy="11.8" r="1.6" />
      <circle cx="12.6" cy="11.8" r="1.6" />
      <path d="m7.2 4.8-3 5.5M8.8 4.8l3 5.5M5.2 11.8h5.6" />
    </>
  ),
  deployments: <path d="M8 2 14 5 8 8 2 5zM2.4 8 8 10.8 13.6 8M2.4 11 8 13.8 13.6 11" />,
  queues: <path d="M2.5 4.5l1.2 1.2L6 3.3M2.5 10.5l1.2 1.2L6 9.3M8.5 4.8h5M8.5 10.8h5" />,
  share: <path d="M8 9.5V2.2M5.2 4.8L8 2l2.8 2.8M4.5 7.5h-1.5v6h10v-6h-1.5" />,
  price: <path d="M8 2v12M11 4.6C9.6 3 5 3.2 5 5.6 5 8.6 11 7.4 11 10.4c0 2.4-4.6 2.6-6 1" />,
  gauge: <path d="M2.5 11.5a5.5 5.5 0 1 1 11 0M8 11.5l2.6-3.8" />,
  traces: <path d="M2 3.5h8M4 6.5h7M6 9.5h8M4 12.5h4" />,
  datasets: (
    <>
      <ellipse cx="8" cy="4" rx="5.5" ry="2" />
      <path d="M2.5 4v8c0 1.1 2.5 2 5.5 2s5.5-.9 5.5-2V4M2.5 8c0 1.1 2.5 2 5.5 2s5.5-.9 5.5-2" />
    </>
  ),
  store: <path d={`M2.5 2.5h11v5h-11zM2.5 7.5h11v6h-11zM6.5 5h3M6.5 10.5h3`} />,
  columns: <path d="M2.5 3h11v10h-11zM6.2 3v10M9.8 3v10" />,
  chart: <path d="M2.5 2.5v11h11M5 10.5l2.6-3 2.2 1.7 3.2-4.4" />,
  fork: (
    <>
      <circle cx="4" cy="3" r="1.6" />
      <circle cx="12" cy="5" r="1.6" />
      <circle cx="4" cy="13" r="1.6" />
      <path d="M4 4.6v6.8M4 9.5c0-2.2 6.6-.9 7.8-2.9" />
    </>
  ),
  compare: <path d="M8 1.5v13M2.5 4.5h3M2.5 8h3M10.5 8h3M10.5 11.5h3" />,
  edit: <path d="M10.8 2.7 13.3 5.2 5.6 13H3v-2.6z" />,
  play: <path d="M4.5 2.8v10.4L13 8z" />,
  stop: <rect x="4" y="4" width="8" height="8" rx="1" fill="currentColor" />,
  pause: <path d="M5.5 3v10M10.5 3v10" />,
  send: <path d="M8 13V3M3.8 7.2 8 3l4.2 4.2" />,
  search: <path d="M11.3 7a4.3 4.3 0 1 1-8.6 0 4.3 4.3 0 0 1 8.6 0zM10.3 10.3l3.2 3.2" />,
  plus: <path d="M8 3v10M3 8h10" />,
  minus: <path d="M3 8h10" />,
  close: <path d="m4 4 8 8M12 4l-8 8" />,
  check: <path d="m3 8.5 3.2 3L13 4.8" />,
  copy: (
    <>
      <rect x="5" y="5" width="8.5" height="8.5" rx="1.5" />
      <path d="M10.8 2.5H4A1.5 1.5 0 0 0 2.5 4v6.8" />
    </>
  ),
  sun: (
    <>
      <circle cx="8" cy="8" r="2.8" />
      <path d={`M8 1.5v1.3M8 13.2v1.3M1.5 8h1.3M13.2 8h1.3M3.4 3.4l.9.9
        M11.7 11.7l.9.9M3.4 12.6l.9-.9M11.7 4.3l.9-.9`} />
    </>
  ),
  moon: <path d="M13.2 9.6A5.6 5.6 0 0 1 6.4 2.8a5.6 5.6 0 1 0 6.8 6.8z" />,
  right: <path d="m6 3.5 4.5 4.5L6 12.5" />,
  down: <path d="M3.5 6 8 10.5 12.5 6" />,
  back: <path d="M10 3 5 8l5 5" />,
  tool: (
    <path d={`M9.6 2.6a3.3 3.3 0 0 0-3 4.6L2.4 11.4l2.2 2.2 4.2-4.2
      a3.3 3.3 0 0 0 4.4-4.1L11 7.5 8.5 5l2.2-2.2a3.3 3.3 0 0 0-1.1-.2z`} />
  ),
  more: <path d="M3.5 8h.01M8 8h.01M12.5 8h.01" strokeWidth="2.2" />,
  grip: <path d="M6 4h.01M10 4h.01M6 8h.01M10 8h.01M6 12h.01M10 12h.01" strokeWidth="1.9" />,
  link: (
    <path d={`M6.8 9.2a2.6 2.6 0 0 0 3.7 0l2.3-2.3a2.6 2.6 0 0 0-3.7-3.7
      l-.8.8M9.2 6.8a2.6 2.6 0 0 0-3.7 0L3.2 9.1a2.6 2.6 0 0 0 3.7 3.7l.8-.8`} />
  ),
  download: <path d="M8 2.5v8M4.5 7.5 8 11l3.5-3.5M2.5 13.5h11" />,
  trash: <path d="M2.5 4.5h11M6 4.5V2.8h4v1.7M4 4.5l.7 9h6.6l.7-9M6.7 7v4M9.3 7v4" />,
  clock: <path d="M14 8A6 6 0 1 1 2 8a6 6 0 0 1 12 0zM8 4.5V8l2.3 1.5" />,
  key: <path d="M9.8 9.2a3.6 3.6 0 1 1 .9-.9L14 11.6V14h-2.4v-1.6H10v-1.6z" />,
  filter: <path d="M2 3.5h12M4.5 8h7M6.5 12.5h3" />,
  up: <path d="m3.5 10.5 4.5-4.5 4.5 4.5" />,
  like: (
    <path d={`M5 7.2 7.6 2.4c1 0 1.6.8 1.4 1.8l-.4 2.3h3.2
      c.9 0 1.5.8 1.3 1.6l-1 4c-.2.7-.7 1.1-1.4 1.1H5zM5 7.2H2.7v6H5`} />
  ),
  dislike: (
    <path d={`M11 8.8 8.4 13.6c-1 0-1.6-.8-1.4-1.8l.4-2.3H4.2
      c-.9 0-1.5-.8-1.3-1.6l1-4c.2-.7.7-1.1 1.4-1.1H11zM11 8.8h2.3v-6H11`} />
  ),
} as const satisfies Record<string, ReactNode>

/** The name of an icon. */
export type IconName = keyof typeof drawings

/** An icon. Readers do not see it: its meaning is beside it, or in the label of its button. */
export function Icon({ name, size = 16 }: { readonly name: IconName; readonly size?: number }) {
  return (
    <svg width={size} height={size} viewBox="0 0 16 16" fill="none" stroke="currentColor"
      strokeWidth="1.4" strokeLinecap="round" strokeLinejoin="round" aria-hidden="true"
    >
      {drawings[name]}
    </svg>
  )
}

/** The mark: the warp, and the heddle that lifts its middle thread. */
export function Mark() {
  return (
    <svg width="22" height="22" viewBox="0 0 22 22" fill="none" stroke="currentColor"
      strokeWidth="1.7" strokeLinecap="round" aria-hidden="true"
    >
      <path d="M3 2v18M7.5 2v18M14.5 2v18M19 2v18" opacity=".38" />
      <path d="M11 2v4.6M11 15.4V20" />
      <ellipse cx="11" cy="11" rx="2.7" ry="4.4" />
      <circle cx="11" cy="11" r=".9" fill="currentColor" stroke="none" />
    </svg>
  )
}

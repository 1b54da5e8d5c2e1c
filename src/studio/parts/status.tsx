/** States of threads, runs and nodes: shape and colour and word all say the same. */

import css from './status.module.css'

/** Status that is shown: the states of threads, runs and nodes, joined where they mean the same. */
export type Status = 'idle' | 'running' | 'waiting' | 'failed' | 'done' | 'queued' | 'next'
  | 'cancelled'

const statuses: Readonly<Record<string, Status>> = {
  idle: 'idle',
  busy: 'running',
  running: 'running',
  interrupted: 'waiting',
  waiting: 'waiting',
  error: 'failed',
  failed: 'failed',
  timeout: 'failed',
  success: 'done',
  done: 'done',
  pending: 'queued',
  queued: 'queued',
  next: 'next',
  cancelled: 'cancelled',
}

const words: Readonly<Record<Status, string>> = { idle: 'Idle', running: 'Running',
  waiting: 'Waiting for you', failed: 'Failed', done: 'Done', queued: 'Queued',
  next: 'Would run next', cancelled: 'Cancelled' }

/** The status that a word of the API stands for: of a thread. Unknown words are idle. */
export const statusOf = (word: string): Status => statuses[word] ?? 'idle'

/** The status of a run: there `interrupted` means cancelled by somebody. */
export const runStatusOf = (word: string): Status =>
  word === 'interrupted' ? 'cancelled' : statusOf(word)

/** Words that people read for a status. */
export const statusWords = (status: Status): string => words[status]

/** The glyph of a status, for beside its word. */
export function StatusGlyph({ status, size = 14 }: {
  readonly status: Status
  readonly size?: number
}) {
  return (
    <svg width={size} height={size} viewBox="0 0 14 14" aria-hidden="true" fill="none"
      strokeWidth="1.6" className={`${css['glyph']} ${css[status]}`}
    >
      {shapes[status]}
    </svg>
  )
}

/** A status as a chip: glyph and word. */
export function StatusChip({ status, word }: { readonly status: Status; readonly word?: string }) {
  return (
    <span className={`${css['chip']} ${css[`${status}Chip`]}`}>
      <StatusGlyph status={status} size={12} />
      {word ?? words[status]}
    </span>
  )
}

const cross = <path d="m5 5 4 4m0-4-4 4" className={css['cut']} strokeLinecap="round" />
const square = <rect x="2" y="2" width="10" height="10" rx="2" className={css['solid']} />

const shapes = {
  idle: <circle cx="7" cy="7" r="4.2" />,
  next: <circle cx="7" cy="7" r="4.2" strokeDasharray="2.4 2.2" />,
  queued: <circle cx="7" cy="7" r="4.8" strokeDasharray="2.4 2.2" />,
  running: (
    <>
      <circle cx="7" cy="7" r="5" opacity=".25" />
      <path d="M7 2a5 5 0 0 1 5 5" strokeLinecap="round" className={css['turning']} />
    </>
  ),
  waiting: <path d="M7 1.6 12.4 7 7 12.4 1.6 7z" className={css['solid']} />,
  failed: <>{square}{cross}</>,
  cancelled: <path d="M2.8 7a4.2 4.2 0 1 1 8.4 0 4.2 4.2 0 0 1-8.4 0zM4 10l6-6" />,
  done: (
    <>
      <circle cx="7" cy="7" r="5.2" className={css['solid']} />
      <path d="m4.6 7.2 1.7 1.6 3.1-3.4" className={css['cut']} strokeLinecap="round"
        strokeLinejoin="round" />
    </>
  ),
} satisfies Record<Status, React.ReactNode>

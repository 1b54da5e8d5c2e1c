/** The messages between the server and a process with one graph worker. */

import type { WorkerStart } from './carrier.ts'
import type { ToWorker } from './worker-mail.ts'

/** What the process gets: its worker first, then the worker's messages. */
export type ToApart = { readonly start: WorkerStart } | { readonly mails: readonly ToWorker[] }

/** What the process sends: the events of its worker. */
export type FromApart = { readonly mails: unknown } | { readonly full: true } | {
  readonly failed: string
}

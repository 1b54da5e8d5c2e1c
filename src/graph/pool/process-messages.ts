/** The messages between the server and a process with one graph worker. */

import type { WorkerStart } from './carrier.ts'
import type { ToWorker } from './worker-mail.ts'

/** Messages to the process: its worker first, then the messages for that worker. */
export type ToApart = { readonly start: WorkerStart } | { readonly mails: readonly ToWorker[] }

/** Messages from the process: the events of its worker. */
export type FromApart = { readonly mails: unknown } | { readonly full: true } | {
  readonly failed: string
}

/** Reason of the cancel of a run, in the words that its record shows. Pure. */

/**
 * request            a client asked for it
 * taken              a client asked for it, as another run has taken in its input
 * disconnected       the client that it ran for left, and wished so
 * assistant_deleted  its assistant was deleted
 * restored           it was unfinished in a backup
 */
export type CancelCause = 'request' | 'taken' | 'disconnected' | 'assistant_deleted' | 'restored'

const words: Readonly<Record<CancelCause, string>> = {
  request: 'cancelled: a client asked for it.',
  taken: 'taken: its input was taken in by another run.',
  disconnected: 'disconnected: the client that it ran for has left.',
  assistant_deleted: 'assistant_deleted: its assistant was deleted.',
  restored: 'restored: the data comes from a backup, in which it was unfinished.',
}

/** The reason of a run that was cancelled by itself. Members before this one name no cause. */
export function cancelReason(cause: CancelCause = 'request'): string {
  return words[cause]
}

/** The reason of a run that had to make room for another one. */
export function supersededBy(runId: string): string {
  return `superseded: run ${runId} interrupted it.`
}

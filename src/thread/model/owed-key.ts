/** Keys of what is owed when a run has ended: its id, with a mark if it was given up. Pure. */

/** The key by which it is owed that nobody answers the question of a run any more. */
export function canceledKey(runId: string): string {
  return `${runId}:canceled`
}

/** The run that an owed key is about. */
export function runOfKey(key: string): { readonly runId: string; readonly isGivenUp: boolean } {
  const [runId = '', mark] = key.split(':')
  return { runId, isGivenUp: mark !== undefined }
}

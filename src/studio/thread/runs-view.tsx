/** All runs of a thread. */

/** The view; `version` changes when a run began or ended. */
export function RunsView({ threadId }: { readonly threadId: string; readonly version: string }) {
  return <p>{threadId}</p>
}

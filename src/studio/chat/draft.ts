/** Draft of a thread: text that a person has typed but not sent yet. It is kept in the tab. */

const keyOf = (threadId: string) => `studio.draft.${threadId}`

/** The draft of a thread; empty if there is none. */
export function draftOf(threadId: string): string {
  try {
    return sessionStorage.getItem(keyOf(threadId)) ?? ''
  } catch {
    return ''
  }
}

/** Keeps a draft; an empty one is forgotten. */
export function keepDraft(threadId: string, text: string): void {
  try {
    if (text === '') sessionStorage.removeItem(keyOf(threadId))
    else sessionStorage.setItem(keyOf(threadId), text)
  } catch {
    // Without storage, or with a full one, it lives as long as the page.
  }
}

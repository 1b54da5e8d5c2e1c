/** The settings of a version that is tried in a thread although another one is active. */

import type { JsonObject } from '../api/client.ts'

/** Context and configuration that runs of the thread are started with. */
export interface Trial {
  readonly context: JsonObject
  readonly config: JsonObject
}

const keyOf = (threadId: string) => `studio.trial.${threadId}`

/** Keeps the settings for the runs that this tab starts in a thread. */
export function keepTrial(threadId: string, trial: Trial): void {
  try {
    sessionStorage.setItem(keyOf(threadId), JSON.stringify(trial))
  } catch {
    // Without storage the thread uses the active version.
  }
}

/** The settings that a thread was made to try. */
export function trialOf(threadId: string): Trial | undefined {
  try {
    return JSON.parse(sessionStorage.getItem(keyOf(threadId)) ?? 'null') as Trial ?? undefined
  } catch {
    return undefined
  }
}

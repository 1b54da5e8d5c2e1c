/** Settings of a run, and what they are in a request. */

import type { StreamMode } from '../../../api/index.ts'
import type { JsonObject } from '../../api/client.ts'

/** Settings of runs from now on. Empty ones are left to the assistant and the server. */
export interface RunSettings {
  readonly config?: JsonObject | undefined
  readonly context?: JsonObject | undefined
  readonly metadata?: JsonObject | undefined
  readonly interruptBefore: readonly string[]
  readonly interruptAfter: readonly string[]
  readonly durability?: 'sync' | 'async' | 'exit' | undefined
  readonly webhook?: string | undefined
  /** Stream modes beside those that the page needs. */
  readonly modes: readonly StreamMode[]
}

/** Settings that leave everything to the assistant and the server. */
export const plainSettings: RunSettings = { interruptBefore: [], interruptAfter: [], modes: [] }

/** True if anything is set. */
export function isSet(settings: RunSettings): boolean {
  return Object.keys(settingsBody(settings, [])).some((key) => key !== 'stream_mode') ||
    settings.modes.length > 0
}

/** The fields of a request that starts a run. */
export function settingsBody(settings: RunSettings, needed: readonly StreamMode[]) {
  const { config, context, metadata, interruptBefore, interruptAfter, durability, webhook } =
    settings
  return {
    stream_mode: [...new Set([...needed, ...settings.modes])],
    ...config !== undefined && { config },
    ...context !== undefined && { context },
    ...metadata !== undefined && { metadata },
    ...interruptBefore.length > 0 && { interrupt_before: interruptBefore },
    ...interruptAfter.length > 0 && { interrupt_after: interruptAfter },
    ...durability !== undefined && { durability },
    ...webhook !== undefined && webhook !== '' && { webhook },
  }
}

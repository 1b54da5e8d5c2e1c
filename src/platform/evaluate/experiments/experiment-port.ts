/** Port of experiments to the assistants of a server; the server fills it. */

import type { Uuid } from '../../spans/span.ts'

/** A run of an assistant about an example. */
export interface AskedAssistant {
  /** An id, or the name of a graph. */
  readonly assistant: string
  readonly input: unknown
  /** The same key is the same run. */
  readonly key: Uuid
  readonly metadata: Readonly<Record<string, string>>
}

/** Answer of an assistant to an example. */
export interface AssistantAnswer {
  readonly run: Uuid
  readonly thread: Uuid
  /** The same however often it is asked for. */
  readonly startMs: number
  /** The values of its last state. */
  readonly values: unknown
  /** Why it failed, in one line; null if it did not. */
  readonly error: string | null
}

/** The assistants of a server. All methods throw HeddleError. */
export interface AssistantsPort {
  /** Its name. Throws `not_found` if there is none. */
  name(tenant: string, assistant: string): Promise<string>
  /** Throws `limited`, `full` or `over_quota` if it may not run now. */
  run(tenant: string, asked: AskedAssistant, signal: AbortSignal): Promise<AssistantAnswer>
}

/** Input of a run in words. */

import type { Run } from '../api/runs.ts'
import { textOf } from '../api/content.ts'

/** The words of the last message of its input, else its input or its answer as JSON. */
export function inputWords({ kwargs = {} }: Pick<Run, 'kwargs'>): string {
  const { input, command } = kwargs as { input?: unknown; command?: unknown }
  const { messages } = Object(input) as { messages?: unknown }
  const last: unknown = Array.isArray(messages) ? messages.at(-1) : messages
  const words = typeof last === 'string' ? last : textOf(Object(last).content)
  if (words !== '') return words
  const { resume } = Object(command) as { resume?: unknown }
  if (resume !== undefined) return `Answer: ${JSON.stringify(resume)}`
  return input == null ? 'Goes on from the state' : JSON.stringify(input)
}

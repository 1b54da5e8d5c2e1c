/** Names of tools: those of assistants, in characters that every client takes. Pure. */

import type { AssistantRow } from '../../../proto/gen/storage/v1/row.ts'
import { systemAssistantId } from '../../graph/index.ts'

/** The part of an assistant that its tool is named after. */
export type NamedAssistant = Pick<AssistantRow, 'assistantId' | 'name' | 'graphId'>

const longest = 128
/** Characters of the id of an assistant that tell it from others of its name. */
const endLength = 12

/** The text without characters that a name may not have. */
export function cleanName(text: string): string {
  const clean = text.replace(/[^A-Za-z0-9_-]+/g, '_').slice(0, longest - endLength - 1)
  return /[A-Za-z0-9]/.test(clean) ? clean : 'assistant'
}

/**
 * The names of assistants, the oldest first: of several with the same one, the oldest has it, and
 * the others get the end of their ids behind it. The own assistant of a graph is named after it,
 * and comes before all others.
 */
export function toolNames(assistants: readonly NamedAssistant[],
  graphIds: readonly string[]): readonly string[] {
  const owners = new Map<string, string>()
  for (const graphId of graphIds) {
    const name = cleanName(graphId)
    if (!owners.has(name)) owners.set(name, systemAssistantId(graphId))
  }
  return assistants.map(({ assistantId, name, graphId }) => {
    const isOwn = assistantId === systemAssistantId(graphId)
    const clean = cleanName(isOwn ? graphId : name)
    const owner = owners.get(clean) ?? assistantId
    owners.set(clean, owner)
    return owner === assistantId ? clean : `${clean}_${assistantId.slice(-endLength)}`
  })
}

/**
 * Parts of names that assistants must have one of, so that their tools may have this name. A search
 * for each finds them all, with those that their names depend on.
 */
export function wordsOf(toolName: string): readonly string[] {
  const stem = toolName.replace(/_[0-9a-f]{12}$/, '')
  return [...new Set([toolName, stem].map(longestWord))]
}

/** Empty for a name that may stand for any text. */
function longestWord(text: string): string {
  if (text === 'assistant') return ''
  return text.split(/[_-]+/).reduce((long, each) => each.length > long.length ? each : long, '')
}

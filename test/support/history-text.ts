/** A history as one text. */

import type { HistoryPart } from '../../src/thread/index.ts'

/** The JSON text of an array. */
export async function historyText(parts: AsyncIterable<HistoryPart>): Promise<string> {
  const texts: string[] = []
  for await (const { states } of parts) texts.push(...states)
  return `[${texts.join(',')}]`
}

/** Runs in a given order, each with members of its own: those that a list elsewhere names. */

import type { ListedRuns } from './question.ts'
import { attachmentsIn } from './attachments.ts'
import { shownBy } from './matching.ts'
import type { ScanParts } from './matching.ts'
import { JsonWriter } from './runs/json-writer.ts'
import { runWriter } from './runs/run-writer.ts'
import { visibility } from './scan.ts'

/** The runs that are there, as a list. */
export async function answerListedRuns(parts: ScanParts,
  { tenant, projects, runs, links }: ListedRuns, signal?: AbortSignal): Promise<Uint8Array> {
  const places = await parts.store.locate(tenant, runs.map(({ id }) => id))
  const isVisible = visibility({ projects }, parts.env.nowMs())
  const found = (await parts.store.heads(places)).filter(isVisible)
  const byId = new Map(found.map((head) => [head.id, head]))
  const more = new Map(runs.map(({ id, moreJson }) => [id, moreJson]))
  const json = new JsonWriter()
  json.add('[')
  const writer = runWriter(1, undefined, shownBy(parts), attachmentsIn(parts.store, links))
  await writer.write(json, runs.flatMap(({ id }) => byId.get(id) ?? []), { signal,
    more: ({ id }) => `,${more.get(id)!.slice(1, -1)}` })
  json.add(']')
  return json.done()
}

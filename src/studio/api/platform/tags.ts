/** Adds a tag to runs of traces. */

import { ask } from '../ask.ts'
import { tagChanges } from './tag-changes.ts'
import type { TaggedRun } from './tag-changes.ts'
import type { SpanPage } from './traces.ts'

/** Characters of a tag. */
export const tagMax = 100

/** Adds the tag to the runs that do not have it. Their other tags stay. */
export async function tagRuns(projectId: string, ids: readonly string[], tag: string,
  signal: AbortSignal): Promise<void> {
  const { items } = await ask('POST /api/v2/runs/query', { signal,
    body: { project_ids: [projectId], ids: [...ids], min_start_time: 0, page_size: ids.length,
      selects: ['ID', 'TAGS'] } }) as SpanPage<TaggedRun>
  const patch = tagChanges(projectId, items, tag)
  if (patch.length === 0) return
  const { rejected } = await ask('POST /api/v1/runs/batch', { signal, body: { patch } })
  if (rejected?.[0] !== undefined) throw new Error(rejected[0].reason)
}

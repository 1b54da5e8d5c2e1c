/** Projects in requests, where they are sessions. Pure. */

import type { ProjectBody } from '../../../api/index.ts'
import { HeddleError } from '../../../errors.ts'
import { textOf } from '../../../raw-json.ts'
import { readTimeUs } from '../../spans/time.ts'
import { retentionDays } from './catalog-projects.ts'
import type { Project } from './project.ts'

/** Members without a field in a project, which are answered as they came. */
const kept = ['default_dataset_id', 'num_examples', 'num_repetitions', 'evaluator_keys',
  'kicked_off_by'] as const

/** A member without a field in a project, which is answered as it came. */
export type KeptMember = (typeof kept)[number]

/** The project that a body makes. Throws `invalid`. */
export function projectMade(body: ProjectBody): Partial<Project> & { readonly name: string } {
  const { name, id, reference_dataset_id: dataset } = body
  const rest = Object.fromEntries(kept.flatMap((each) => {
    const value = body[each]
    return value === undefined || value === null ? [] : [[each, value]]
  }))
  return {
    ...projectChanged({ ...body, name: null }),
    name: nameIn(name ?? ''),
    ...id && { id },
    ...dataset && { referenceDatasetId: dataset },
    ...timeIn('startMs', 'start_time', body.start_time),
    ...Object.keys(rest).length > 0 && { restJson: JSON.stringify(rest) },
  }
}

/** Change of a project in a body. Throws `invalid`. */
export function projectChanged(body: ProjectBody): Partial<Project> {
  const { name, description, extra, trace_tier: tier } = body
  return {
    ...typeof name === 'string' && { name: nameIn(name) },
    ...typeof description === 'string' && { description },
    ...extra && { extraJson: textOf(extra) },
    ...timeIn('endMs', 'end_time', body.end_time),
    ...tier && tierIn(tier),
  }
}

function nameIn(name: string): string {
  if (name.trim() !== '') return name
  throw new HeddleError('invalid', 'name: a project needs one.')
}

function timeIn(field: 'startMs' | 'endMs', name: string, value: unknown): Partial<Project> {
  if (value === undefined || value === null) return {}
  const us = readTimeUs(value)
  if (us === undefined) throw new HeddleError('invalid', `${name}: this is no time.`)
  return { [field]: Math.floor(us / 1_000) }
}

function tierIn(tier: string): Partial<Project> {
  const longLived = tier.toLowerCase().replace('_', '') === 'longlived'
  return { longLived, retentionDays: longLived ? retentionDays.long : retentionDays.short }
}

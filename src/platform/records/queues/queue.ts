/** Annotation queues: items that people review, and the rubric by which they score them. Pure. */

import type { QueueBody } from '../../../api/index.ts'
import { isObject } from '../../../json/index.ts'
import type { CatalogRecord } from '../catalog/catalog-record.ts'
import type { Uuid } from '../../spans/span.ts'

/** A queue, with the number of its items. */
export interface Queue extends Required<QueueBody> {
  readonly id: Uuid
  readonly name: string
  /** Number of items. It is one too high if a member was killed while it added one. */
  readonly items: number
  readonly createdMs: number
  readonly modifiedMs: number
}

/** Bytes that an item is counted with, whatever it has. */
export const itemBytes = 512

const usual: Required<QueueBody> = {
  description: null,
  default_dataset: null,
  num_reviewers_per_item: 1,
  enable_reservations: true,
  reservation_minutes: 1,
  reviewer_access_mode: 'any',
  rubric_instructions: null,
  rubric_items: [],
  metadata: null,
}

/** The queue that a record holds. */
export function queueOf(
  { id, name, bodyJson, heldBytes, createdAtMs, modifiedAtMs }: CatalogRecord,
): Queue {
  const body: unknown = JSON.parse(bodyJson)
  return { ...usual, ...isObject(body) && body, id, name, items: Math.round(heldBytes / itemBytes),
    createdMs: createdAtMs, modifiedMs: modifiedAtMs }
}

/** Members of a body that are stored. */
export function queueFields(body: QueueBody): QueueBody {
  return Object.fromEntries(
    Object.entries(body).filter(([name, value]) =>
      value !== undefined && Object.hasOwn(usual, name)
    ),
  )
}

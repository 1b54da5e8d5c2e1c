/** Document places and keys of all that belongs to examples. They are stored, and never change. */

import { namedId } from '../../records/catalog/named-id.ts'
import type { DocumentPlace, DocumentPort } from '../../spans/document-port.ts'
import type { Uuid } from '../../spans/span.ts'

/** A dataset of a tenant. */
export interface DatasetPlace {
  readonly tenant: string
  readonly dataset: Uuid
}

/** Digits of the time of a version. */
const stampDigits = 17

/** Document place of the rows, the places and the versions of a dataset. */
export function examplesOf({ tenant, dataset }: DatasetPlace): DocumentPlace {
  return { tenant, kind: 'example', owner: dataset }
}

/** Document place of the attachments of all examples of a dataset. */
export function filesOf({ tenant, dataset }: DatasetPlace): DocumentPlace {
  return { tenant, kind: 'example_file', owner: dataset }
}

/** Document place that lists the datasets of an example. A tenant has sixteen of these. */
export function datasetsOf(tenant: string, example: Uuid): DocumentPlace {
  return { tenant, kind: 'example', owner: namedId('exampleBucket', example.slice(-1)) }
}

/** The key in `datasetsOf`; without a dataset the beginning of those keys. */
export const membershipKey = (example: Uuid, dataset: Uuid | '' = '') => `${example}/${dataset}`

/** The datasets that have, or had, an example: 100 at most. */
export async function datasetsWith(store: Pick<DocumentPort, 'listDocuments'>, tenant: string,
  example: Uuid): Promise<readonly Uuid[]> {
  const begin = membershipKey(example)
  const documents = await store.listDocuments(datasetsOf(tenant, example), {
    ...beginningWith(begin),
    limit: 100,
  })
  return documents.map(({ key }) => key.slice(begin.length))
}

/** The key of a version that was published, or was followed by a published one. */
export const publishedKey = (version: string) => `p/${version}`
/** The key of the root of a version, published or not. */
export const rootKey = (version: string) => `v/${version}`
/** The key of a row; without a name the beginning of those keys. */
export const rowKey = (example: Uuid, row = '') => `r/${example}/${row}`
/** The key of the place of an example. */
export const placeKey = (example: Uuid) => `at/${example}`
/** The key of a part of an attachment; the beginning of such keys without parts. */
export const fileKey = (example: Uuid, file = '', part?: number) =>
  `${example}/${file}${part === undefined ? '' : `/${String(part).padStart(5, '0')}`}`

/** All keys that begin with this text. */
export const beginningWith = (text: string) => ({ after: text, before: `${text}~` })

/** The name of a version: its time in microseconds, and a text that is unique to it. */
export function versionName(stampUs: number, own: string): string {
  return `${String(stampUs).padStart(stampDigits, '0')}-${own}`
}

/** The time of a version in microseconds. */
export function stampOf(version: string): number {
  return Number(version.slice(0, stampDigits))
}

/** The time of the version after another one: whole milliseconds, for dates of JavaScript. */
export function nextStamp(head: string | null, nowMs: number): number {
  const nowUs = Math.floor(nowMs) * 1_000
  return head === null ? nowUs : Math.max(nowUs, stampOf(head) + 1_000)
}

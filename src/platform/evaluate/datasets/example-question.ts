/** Questions about examples of a dataset: the version, the examples, and where a slice begins. */

import { HeddleError } from '../../../errors.ts'
import type { LinkKey } from '../../records/downloads/download-link.ts'
import type { Uuid } from '../../spans/span.ts'
import { readTimeUs } from '../../spans/time.ts'
import type { Dataset } from './dataset.ts'
import type { ExampleFilter } from './example-filter.ts'
import type { LineForm } from './example-lines.ts'
import type { DatasetPlace } from './example-place.ts'
import type { ShownMembers } from './example-shape.ts'
import type { ExampleVersions } from './example-versions.ts'

/** Start of a slice: behind `at` examples of the version, and `skip` that are wanted. */
export interface ExampleMark {
  readonly at: number
  readonly skip: number
}

/** A version of a dataset, by its time or its tag; the newest one by default. */
export interface VersionQuestion {
  readonly tenant: string
  readonly dataset: Dataset
  readonly asOf?: string
}

/** Selects the examples to read, the slice of them, and the members to show. */
export interface ExamplesQuestion extends VersionQuestion, ExampleFilter {
  readonly ids?: readonly Uuid[]
  readonly from: ExampleMark
  readonly limit: number
  readonly newestFirst: boolean
  readonly shown: ShownMembers
  readonly links: LinkKey
  /** Texts are lines of a file; by default they are JSON. */
  readonly lines?: LineForm
}

/** Place of the dataset of a question. */
export function placeOf({ tenant, dataset }: VersionQuestion): DatasetPlace {
  return { tenant, dataset: dataset.id }
}

/** The version that a question is about; null if that is before the first example. */
export async function versionOf(versions: ExampleVersions,
  question: VersionQuestion): Promise<string | null> {
  const { dataset: { head, tags }, asOf } = question
  if (asOf === undefined || asOf === 'latest') return head
  if (Object.hasOwn(tags, asOf)) return tags[asOf]!
  const us = readTimeUs(asOf)
  if (us !== undefined) return await versions.versionAt(placeOf(question), head, us)
  throw new HeddleError('not_found', `Dataset version ${JSON.stringify(asOf)} not found.`)
}

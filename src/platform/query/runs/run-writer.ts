/** Writes spans as runs of one of the two APIs, with the selected members only. */

import type { SpanHead } from '../../spans/span.ts'
import { contentOf } from '../payload/content.ts'
import type { JsonWriter } from './json-writer.ts'
import { slicesOf } from '../payload/order.ts'
import type { Payloads } from '../payload/payloads.ts'
import type { AttachmentLink } from './run-fields.ts'
import { runV1Beside, runV1Fields, runV1Member, runV1Required } from './run-v1.ts'
import { runV2Fields, runV2Member, runV2Required } from './run-v2.ts'

const apis = {
  1: { fields: runV1Fields, memberOf: runV1Member, required: runV1Required, besideOf: runV1Beside },
  2: { fields: runV2Fields, memberOf: runV2Member, required: runV2Required,
    besideOf: (): string | undefined => undefined },
} as const

const nothing = contentOf({})

/** Texts around each run, and further members of it. */
export interface WriteOptions {
  readonly around?: ((head: SpanHead) => readonly [before: string, after: string]) | undefined
  /** More members of a run, as JSON with a comma before each. */
  readonly more?: ((head: SpanHead) => string) | undefined
  readonly signal?: AbortSignal | undefined
}

/** Writes spans as runs of one API. */
export interface RunWriter {
  /** Adds the runs to what is written, with a comma between them. */
  write(json: JsonWriter, heads: readonly SpanHead[], options?: WriteOptions): Promise<void>
}

/** Finds the attachments of a span. */
export type AttachmentsOf = (head: SpanHead) => Promise<readonly AttachmentLink[]>

/**
 * A writer for these members; without `select` for all. Unknown ones are left out. Without
 * `attachmentsOf` no span has any.
 */
export function runWriter(version: 1 | 2, select: readonly string[] | undefined, payloads: Payloads,
  attachmentsOf?: AttachmentsOf): RunWriter {
  const { fields, memberOf, required, besideOf } = apis[version]
  const chosen = select === undefined
    ? Object.keys(fields)
    : [...new Set([...required, ...select.map(memberOf)])]
      .filter((name) => Object.hasOwn(fields, name))
  const beside = chosen.flatMap((name) => besideOf(name) ?? [])
    .filter((name) => !chosen.includes(name))
    .map((name) => [`,"${name}":`, fields[name]!.of] as const)
  const needsContent = chosen.some((name) => fields[name]!.needsContent)
  const needsAttachments = chosen.some((name) => fields[name]!.needsAttachments)
  const members = chosen.map((name, index) =>
    [`${index === 0 ? '{' : ','}"${name}":`, fields[name]!.of] as const
  )
  let isFirst = true
  return {
    async write(json, heads, { around = () => ['', ''], more, signal } = {}) {
      const withContent = needsContent ? payloads.of(heads) : withNothing(heads)
      for await (const [head, content] of withContent) {
        signal?.throwIfAborted()
        const [before, after] = around(head)
        json.add(isFirst ? before : `,${before}`)
        isFirst = false
        const attachments = needsAttachments ? await attachmentsOf?.(head) ?? [] : []
        for (const [name, of] of members) {
          json.add(name)
          json.add(of(head, content, attachments))
        }
        for (const [name, of] of beside) {
          const value = of(head, content, attachments)
          if (value === 'null') continue
          json.add(name)
          json.add(value)
        }
        json.add(`${more?.(head) ?? ''}}`)
        json.add(after)
      }
    },
  }
}

/** The heads without payloads. Other work gets a turn now and then. */
async function* withNothing(heads: readonly SpanHead[]) {
  for (const slice of slicesOf(heads)) {
    for (const head of slice) yield [head, nothing] as const
    await new Promise((turn) => setImmediate(turn))
  }
}

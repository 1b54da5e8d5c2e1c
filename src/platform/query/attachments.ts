/** Attachments of spans in answers: each with a link that reads it without a key. */

import { linkOf } from '../records/downloads/download-link.ts'
import type { LinkKey } from '../records/downloads/download-link.ts'
import type { SpanPort } from '../spans/span-port.ts'
import type { AttachmentsOf } from './runs/run-writer.ts'

/** Finds attachments in a store. Undefined if no links are asked for. */
export function attachmentsIn(store: Pick<SpanPort, 'files'>, links: LinkKey | undefined):
  | AttachmentsOf
  | undefined {
  if (links === undefined) return undefined
  return async ({ tenant, project, id }) =>
    (await store.files({ tenant, project, id })).map(({ name, type }) => ({
      name,
      type,
      url: linkOf(links, { tenant, kind: 'span', ids: [id, project], name, type, key: '',
        bytes: 0 }),
    }))
}

/** The log of a rule: its newest lines, as documents by their number. */

import type { DocumentPlace, DocumentPort } from '../../spans/document-port.ts'
import type { Uuid } from '../../spans/span.ts'
import type { LoggedEntry } from './rule-state.ts'

const digits = 12

function logPlace(tenant: string, rule: Uuid): DocumentPlace {
  return { tenant, kind: 'rule_log', owner: rule }
}

function lineKey(no: number): string {
  return String(no).padStart(digits, '0')
}

/** Writes lines. Those with the same numbers are replaced. */
export async function writeLog(documents: DocumentPort, tenant: string, rule: Uuid,
  entries: readonly LoggedEntry[], [from, before]: readonly [number, number]): Promise<void> {
  const place = logPlace(tenant, rule)
  await documents.putDocuments(place,
    entries.map((entry) => ({ key: lineKey(entry.no), body: Buffer.from(JSON.stringify(entry)) })))
  const gone = Array.from({ length: before - from }, (_, at) => lineKey(from + at))
  await documents.deleteDocuments(place, gone)
}

/** The newest lines before a number, newest first. */
export async function readLog(documents: DocumentPort, tenant: string, rule: Uuid,
  { before, limit }: { readonly before?: number | undefined; readonly limit: number }
): Promise<readonly LoggedEntry[]> {
  const found = await documents.listDocuments(logPlace(tenant, rule), { reverse: true, limit,
    ...before !== undefined && { before: lineKey(before) } })
  return found.map(({ body }) => JSON.parse(Buffer.from(body).toString()) as LoggedEntry)
}

/** Removes all lines of the log of a rule, as when the rule is deleted. */
export async function dropLog(documents: DocumentPort, tenant: string, rule: Uuid): Promise<void> {
  await documents.dropDocuments(logPlace(tenant, rule))
}

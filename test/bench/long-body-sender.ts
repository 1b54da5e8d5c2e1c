/** Sends a long body again and again, in a process of its own. */

import { readFileSync } from 'node:fs'

import { boundary } from './trace-bodies.ts'

/** The arguments of the process. */
export type LongBodyOrder = readonly [url: string, file: string, times: string]

const [url, file, times] = process.argv.slice(2) as unknown as LongBodyOrder
const body = readFileSync(file)

for (let sent = 0; sent < Number(times); sent++) {
  const answer = await fetch(url, { method: 'POST', body,
    headers: { 'content-type': `multipart/form-data; boundary=${boundary}` } })
  await answer.arrayBuffer()
  if (answer.status !== 202) throw new Error(`ingest answered ${answer.status}`)
}

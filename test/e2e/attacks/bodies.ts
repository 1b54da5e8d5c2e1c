/** Attacks by bodies: JSON of very many values, and typed calls that grow as they are inflated. */

import { brotliCompressSync } from 'node:zlib'

import type { Attack } from './place.ts'

const longest = 24 * 1024 * 1024
/** As many values as fit in: to parse them takes seconds. */
const manyValues = `[${'[],'.repeat(longest / 3 - 10)}[]]`

/** One to each route, for the time that the test itself takes to send more is not the server's. */
export const manyValuesInBodies: Attack = {
  name: 'bodies of eight million values',
  prepare: async ({ developer, reader, send, drop }) => {
    const { thread_id: id } = await send(developer, '/threads', {}) as { thread_id: string }
    const input = `{"assistant_id":"echo","input":${manyValues}}`
    const filter = `{"metadata":{"a":${manyValues}}}`
    const update = `{"values":${manyValues}}`
    return () =>
      Promise.all([
        drop(reader, '/threads/search', manyValues),
        drop(reader, '/threads/search', filter),
        drop(developer, `/threads/${id}/runs/wait`, input),
        drop(developer, `/threads/${id}/state`, update),
      ])
  },
}

const path = '/frontdoor.v1.ThreadService/SearchThreads'
/** 24 MB of white space in some 50 bytes. */
const bomb = brotliCompressSync(Buffer.alloc(longest, ' '))
const bombs = 400

export const compressedCalls: Attack = {
  name: 'four hundred compressed calls of 24 MB each',
  prepare: ({ reader, drop }) =>
    Promise.resolve(() =>
      Promise.all(
        Array.from({ length: bombs }, () => drop(reader, path, bomb, { 'content-encoding': 'br' })),
      )
    ),
}

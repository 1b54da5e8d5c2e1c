/** No request holds up the main thread, whatever is in its 25 MB. */

import { create, toBinary } from '@bufbuild/protobuf'
import { describe, expect, it } from 'vitest'

import { StreamRunRequestSchema } from '../../proto/gen/frontdoor/v1/run_pb.js'
import { SearchThreadsRequestSchema } from '../../proto/gen/frontdoor/v1/thread_pb.js'
import { isNight } from '../support/repeats.ts'
import { megabyte, useWatchedServer } from '../support/watched-server.ts'

const server = useWatchedServer()

type Case = readonly [name: string, work: () => Promise<Response>]

/** By day those of these names, which go different ways; the others by night too. */
const someOf = (names: readonly string[], cases: readonly Case[]) =>
  cases.filter(([name]) => isNight || names.includes(name))

/** As many values as fit into 24 MB: to parse them takes seconds. */
const many = `[${'[],'.repeat(8 * megabyte - 1)}[]]`
/** As many as are let through. */
const most = `[${'[],'.repeat(990_000)}[]]`

const inRun = (members: string) => async () =>
  server.send(
    `/threads/${await server.thread()}/runs/wait`,
    `{"assistant_id":"echo",${members}}`,
  )

const typed = (call: string, type: string, body: Uint8Array | string) => () =>
  fetch(`${server.url}/frontdoor.v1.${call}`, { method: 'POST',
    body: typeof body === 'string' ? body : new Uint8Array(body),
    headers: { 'content-type': type } })

describe('24 MB of very many values', () => {
  it.each(someOf(['a search', 'the input of a run', 'the config of a run', 'supersteps'], [
    ['a search', () => server.send('/threads/search', many)],
    ['a filter', () => server.send('/threads/search', `{"metadata":{"a":${many}}}`)],
    ['ids', () => server.send('/threads/search', `{"ids":[${'"",'.repeat(8 * megabyte)}""]}`)],
    ['a body that nobody reads',
      async () => server.send(`/threads/${await server.thread()}/copy`, many)],
    ['the input of a run', inRun(`"input":{"x":${many}}`)],
    ['the config of a run', inRun(`"input":{},"config":{"configurable":{"x":${most}}}`)],
    ['an update',
      async () =>
        server.send(`/threads/${await server.thread()}/state`, `{"values":{"x":${many}}}`)],
    ['supersteps', () =>
      server.send('/threads', '{"metadata":{"graph_id":"echo"},"supersteps":[' +
        `${'{"updates":[]},'.repeat(1.6 * megabyte)}{"updates":[]}]}`)],
  ]))('are refused, and hold up nobody: %s', async (_name, work) => {
    await server.holdsUpNobody(work, { status: 422, times: 1.5 })
  })

  it.each(someOf(['groups', 'a filter'], [
    ['ids',
      typed('ThreadService/SearchThreads', 'application/proto',
        Buffer.alloc(24 * megabyte, Buffer.from([10, 0])))],
    ['groups',
      typed('ThreadService/SearchThreads', 'application/proto', Buffer.alloc(24 * megabyte, 0xf3))],
    ['JSON',
      typed('ThreadService/SearchThreads', 'application/json',
        `{"threadIds":[${'"",'.repeat(megabyte)}""]}`)],
    ['a filter',
      typed('ThreadService/SearchThreads', 'application/proto',
        toBinary(SearchThreadsRequestSchema,
          create(SearchThreadsRequestSchema, { metadataJson: Buffer.from(many) })))],
  ]))('are refused in a typed call: %s', async (_name, work) => {
    await server.holdsUpNobody(work, { status: 400, times: 1.5 })
  })

  it('are refused in a typed call that streams', async () => {
    const message = toBinary(StreamRunRequestSchema, create(StreamRunRequestSchema, {
      run: { assistantId: 'echo', inputJson: Buffer.from(many) },
    }))
    const head = Buffer.alloc(5)
    head.writeUInt32BE(message.length, 1)
    let text = ''
    await server.holdsUpNobody(async () => {
      const answer = await typed('RunService/StreamRun', 'application/connect+proto',
        Buffer.concat([head, message]))()
      text = await answer.clone().text()
      return answer
    }, { status: 200, times: 1.5 })
    expect(text).toMatch(/input_json has more than 1000000 values/)
  })
})

describe('a million values', () => {
  it.each(someOf(['as the input of a run'], [
    ['as the input of a run', inRun(`"input":{"x":${most}}`)],
    ['as the context of a run', inRun(`"input":{"x":1},"context":{"x":${most}}`)],
    ['as the first state of a thread', () =>
      server.send('/threads', '{"metadata":' +
        '{"graph_id":"echo"},"supersteps":[{"updates":[{"as_node":"__input__",' +
        `"values":{"x":${most}}}]}]}`)],
  ]))('are carried, and hold up nobody: %s', async (_name, work) => {
    await server.holdsUpNobody(work, { status: 200, times: 1.5 })
  })
})

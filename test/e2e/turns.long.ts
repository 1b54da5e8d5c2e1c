/**
 * 24 MB of long texts hold up nobody either, wherever they go. What is measured is processor time
 * of the longest turn. An answer of tens of megabytes still leaves in one turn.
 */

import { describe, it } from 'vitest'

import { isNight } from '../support/repeats.ts'
import { megabyte, useWatchedServer } from '../support/watched-server.ts'

const server = useWatchedServer()

const page = 'long "text" of words, \n'.repeat(160)
const pages = JSON.stringify(
  Array.from({ length: 24 * megabyte / (page.length * 1.15) }, () => page),
)
const single = JSON.stringify('é€x '.repeat(3_000_000))

const run = (assistant: string, members: string) => async () =>
  server.send(
    `/threads/${await server.thread()}/runs/wait`,
    `{"assistant_id":"${assistant}",${members}}`,
  )

describe.each([['many texts', pages], ['one text beyond ASCII', single]])('%s', (_name, value) => {
  it.each<readonly [string, () => Promise<Response>]>([
    ['a context', run('echo', `"input":{"x":1},"context":{"x":${value}}`)],
    ['an update', async () => {
      const id = await server.thread()
      const path = `/threads/${id}/runs/wait`
      await (await server.send(path, '{"assistant_id":"echo","input":{"x":1}}')).text()
      return server.send(`/threads/${id}/state`, `{"values":{"x":${value}}}`)
    }],
  ])('is carried: %s', async (_what, work) => {
    await server.holdsUpNobody(work, { status: 200, times: 1.8 })
  })

  it.runIf(isNight)('is run, and answered twice as long', async () => {
    await server.holdsUpNobody(run('echo', `"input":{"x":${value}}`), { status: 200, times: 6 })
  })
})

describe('20 MB that a graph makes', () => {
  it.each(['make', 'asks'])('are stored and answered: %s', async (graph) => {
    await server.holdsUpNobody(run(graph, '"input":{"x":20}'), { status: 200, times: 2.5 })
  })

  it('are searched and picked from', async () => {
    const id = await server.thread()
    await (await server.send(`/threads/${id}/runs/wait`,
      '{"assistant_id":"make","input":{"x":20}}')).text()
    for (const asked of [{ values: { x: 20 } }, { extract: { a: 'values.out[0]' } }]) {
      const body = JSON.stringify({ ids: [id], select: ['thread_id'], ...asked })
      await server.holdsUpNobody(() => server.send('/threads/search', body), { status: 200,
        times: 1.8 })
    }
  })
})
